//===- ProgramViews.cpp - What the view records of a program are ------------------------------------===//

#include "compiler/Lowering/PlanTable/DecodeProgram.h"

using namespace mlir;
using namespace plim::plan;

namespace {

class Classifier {
public:
  Classifier(const TableReader &table, const plim_t_program &program)
      : table(table), program(program), views(table.all<plim_t_view>(PLIM_SEC_VIEWS)),
        buffers(table.all<plim_t_buffer>(PLIM_SEC_BUFFERS)) {}

  FailureOr<std::map<uint32_t, DecodedView>> run(std::string &error) {
    auto residents = table.all<plim_t_resident>(PLIM_SEC_RESIDENTS).slice(program.first_resident, program.residents);
    for (auto [number, resident] : llvm::enumerate(residents)) {
      found[resident.view] = {DecodedView::Resident, uint32_t(number)};
      wholes.push_back(resident.view);
    }
    auto steps = table.steps(program);
    for (const plim_t_step &step : steps)
      if (step.opcode == PLIM_OP_MARK) {
        uint32_t buffer = table.all<plim_t_mark>(PLIM_SEC_MARKS)[step.record].buffer;
        found[buffers[buffer].view] = {DecodedView::Buffer, buffer};
      }
    for (auto [number, step] : llvm::enumerate(steps))
      if (!visit(step)) {
        error = ("step " + Twine(number) + ": need a live buffer or a resident around each view").str();
        return failure();
      }
    return std::move(found);
  }

private:
  bool visit(const plim_t_step &step) {
    switch (step.opcode) {
    case PLIM_OP_MARK: {
      const plim_t_mark &mark = table.all<plim_t_mark>(PLIM_SEC_MARKS)[step.record];
      if (mark.is_death)
        llvm::erase(live, mark.buffer);
      else
        live.push_back(mark.buffer);
      return true;
    }
    case PLIM_OP_LAUNCH: {
      const plim_t_launch &launch = table.all<plim_t_launch>(PLIM_SEC_LAUNCHES)[step.record];
      bool ok = launch.workspace == PLIM_NONE || add(launch.workspace, PLIM_NONE);
      for (const plim_t_operand &operand :
           table.all<plim_t_operand>(PLIM_SEC_OPERANDS).slice(launch.first_operand, launch.operands))
        ok &= add(operand.view, operand.buffer);
      return ok;
    }
    case PLIM_OP_COPY: {
      const plim_t_copy &copy = table.all<plim_t_copy>(PLIM_SEC_COPIES)[step.record];
      return add(copy.src, PLIM_NONE) && add(copy.dst, PLIM_NONE);
    }
    case PLIM_OP_FILL:
      return add(table.all<plim_t_fill>(PLIM_SEC_FILLS)[step.record].view, PLIM_NONE);
    case PLIM_OP_LOAD:
      return add(table.all<plim_t_load>(PLIM_SEC_LOADS)[step.record].view, PLIM_NONE);
    default:
      return true;
    }
  }

  bool inside(const plim_t_view &part, const plim_t_view &whole) const {
    return part.base == whole.base && (part.base == PLIM_BASE_CONSTANT_FILE || part.index == whole.index) &&
           part.offset >= whole.offset && part.offset + part.bytes <= whole.offset + whole.bytes;
  }

  bool add(uint32_t number, uint32_t buffer) {
    if (found.count(number))
      return true;
    const plim_t_view &view = views[number];
    if (view.base == PLIM_BASE_IO) {
      uint32_t io = view.index - program.first_io;
      bool whole = view.offset == 0 && view.offset_scalar == PLIM_NONE &&
                   view.bytes == table.all<plim_t_io>(PLIM_SEC_IOS)[view.index].bytes;
      found[number] = {whole ? DecodedView::IO : DecodedView::Part, io, PLIM_NONE};
      return true;
    }
    if (buffer != PLIM_NONE) {
      found[number] = {DecodedView::Part, 0, buffers[buffer].view};
      return true;
    }
    for (uint32_t candidate : live)
      if (inside(view, views[buffers[candidate].view])) {
        found[number] = {DecodedView::Part, 0, buffers[candidate].view};
        return true;
      }
    for (uint32_t whole : wholes)
      if (inside(view, views[whole])) {
        found[number] = {DecodedView::Part, 0, whole};
        return true;
      }
    return false;
  }

  const TableReader &table;
  const plim_t_program &program;
  ArrayRef<plim_t_view> views;
  ArrayRef<plim_t_buffer> buffers;
  std::map<uint32_t, DecodedView> found;
  SmallVector<uint32_t> live;   // buffers alive at the step
  SmallVector<uint32_t> wholes; // views of residents
};

} // namespace

FailureOr<std::map<uint32_t, DecodedView>>
plim::plan::classifyViews(const TableReader &table, const plim_t_program &program, std::string &error) {
  return Classifier(table, program).run(error);
}
