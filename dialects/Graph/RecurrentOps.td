//===- RecurrentOps.td - The recurrence of LSTM, GRU and RNN ---------------------------------------===//
#ifndef PLIM_GRAPH_RECURRENT_OPS
#define PLIM_GRAPH_RECURRENT_OPS

include "dialects/Graph/GraphBase.td"

// What a recurrent net does step by step. With T steps, B sequences, D directions (2 where bidirectional), hidden size H
// and the gates of the kind in the order i o f c (lstm), z r h (gru), h (rnn), G of them:
//   projected [T, B, D*G*H]: input times input weights plus all biases, but the one below
//   recurrent [D, G*H, H], or packed (graph.recurrence's getPackedColumns() says how). Of 8-bit integers, which stand for
//             scale * (recurrent - zero_point), it is multiplied by the hidden state in 8 bits: at each step and for each
//             direction one scale and zero point for all sequences, as ONNX's DynamicQuantizeLinear chooses them
//   bias      [D, H], of the gru's h inside the product with the reset gate; with linear_before_reset
//   peepholes [D, 3*H], lstm, gates i o f
//   lengths   [B]: steps of each sequence, at most T; beyond them the result is 0, and the other direction starts there
//   hidden, cell [D, B, H]: initial states, 0 where left out; cell for the lstm
//   scale, zero_point [D, 1] or [D, G*H], of 8-bit recurrent
// activations: for each direction f, g, h (lstm), f, g (gru), f (rnn), with their parameters in alphas and betas. clip
// bounds what goes into an activation to [-clip, clip]; 0 stands for no bound. input_forget: f = 1 - i.
// Results: the hidden states [T, D, B, H], and the last of each sequence [D, B, H], hidden and (lstm) cell.
def Graph_RecurrenceOp : Graph_PureOp<"recurrence", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<Graph_Alias>]> {
  let arguments = (ins Graph_RecurrenceKindAttr:$kind, Graph_DirectionAttr:$direction,
    Graph_FloatTensor:$projected, Graph_NumberTensor:$recurrent, Optional<Graph_FloatTensor>:$bias,
    Optional<Graph_FloatTensor>:$peepholes, Optional<Graph_IndexTensor>:$lengths, Optional<Graph_FloatTensor>:$hidden,
    Optional<Graph_FloatTensor>:$cell, Optional<Graph_FloatTensor>:$scale, Optional<Graph_IntegerTensor>:$zero_point,
    TypedArrayAttrBase<Graph_GateFunctionAttr, "functions of the gates">:$activations,
    DenseF64ArrayAttr:$alphas, DenseF64ArrayAttr:$betas, DefaultValuedAttr<Graph_Double, "0.0">:$clip,
    DefaultValuedAttr<BoolAttr, "false">:$linear_before_reset, DefaultValuedAttr<BoolAttr, "false">:$input_forget);
  let results = (outs Graph_FloatTensor:$sequence, Graph_FloatTensor:$last_hidden, Optional<Graph_FloatTensor>:$last_cell);
  let assemblyFormat = [{
    $kind $direction $projected `,` $recurrent (`bias` $bias^)? (`peepholes` $peepholes^)? (`lengths` $lengths^)?
    (`hidden` $hidden^)? (`cell` $cell^)? (`scale` $scale^ `zero_point` $zero_point)? attr-dict `:`
    functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// D, G, H.
    int64_t getDirections();
    int64_t getGates();
    int64_t getHiddenSize();
    /// Functions of one direction.
    int64_t getFunctions();
    /// The gates that one product with a hidden state gives: all of them, but for the gru, whose h gate waits for the
    /// reset gate unless linear_before_reset.
    llvm::SmallVector<int64_t, 2> getProducts();
    /// Columns of packed recurrent weights [H, columns]: those of the gates of each product, filled up to a multiple of
    /// 32, product by product and direction by direction.
    int64_t getPackedColumns();
    bool isQuantized() { return getScale() != nullptr; }
  }];
  let hasVerifier = 1;
}

#endif
