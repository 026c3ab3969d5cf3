// Each rule of the verifiers has a case that breaks it alone.
// RUN: plim-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

// Types and attributes.
plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a tier (ram, pinned, ssd, gpu), have 'disk'}}
    %a = plan.alloc : !plan.buffer<disk, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a size of at least 0 bytes, have -1}}
    %a = plan.alloc : !plan.buffer<-1>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need an element type (f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool), have 'f8'}}
    plan.launch "k"(w %y f8[4] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a rank of at most 8, have 9}}
    plan.launch "k"(w %y f32[1, 1, 1, 1, 1, 1, 1, 1, 1] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need 2 strides, have 1}}
    plan.launch "k"(w %y f32[2, 2] strides [1] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a rank of 2 for layout panel32, have 1}}
    plan.launch "k"(w %y f32[2] panel32 : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need an access mode (r, w, rw), have 'x'}}
    plan.launch "k"(x %y f32[2] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need the name of a kernel, have ""}}
    plan.launch ""<ns = 1>(w %y f32[2] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need shared and scratch to be multiples of 64, have 1 and 0}}
    plan.launch "k"<shared = 1>(w %y f32[2] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need phases and tasks of at least 1 and below 2^32, have 1 and 0}}
    plan.launch "k"<tasks = 0>(w %y f32[2] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a field of a candidate, have 'speed'}}
    plan.launch "k"<speed = 1>(w %y f32[2] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a queue number from 0 to 15, have 16}}
    %t = plan.fill %y with 0 on <read, 16> : <ram, 64> -> !plan.token
    plan.return
  }
}

// -----

plan.module {
  // expected-error @below {{need 0 <= lower <= upper for symbol 'N', have [3, 2]}}
  plan.program @p virtual symbols(%n "N" in [3, 2]) io() {
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need three halo numbers a buffer read, have 2}}
    plan.launch "k"(r %y f32[2] : <ram, 64>) splits [#plan.split<"rows", extent = 4, min_piece = 1, concat, halos = [1, 0]>]
    plan.return
  }
}

// -----

// The module.
plan.module {
  // expected-error @below {{need an offset in the weight file that is a multiple of 64, have 4}}
  plan.constant @w f32[1] bytes 4 at 4
}

// -----

plan.module {
  // expected-error @below {{need 8 bytes for its shape, have 4}}
  plan.constant @w f32[2] bytes 4 at 0
}

// -----

plan.module {
  // expected-error @below {{need a shape of numbers only}}
  plan.state @s f32[s0 max 2] bytes 8
}

// -----

plan.module {
  // expected-error @below {{need a tier}}
  plan.arena @a transient : !plan.buffer<64>
}

// -----

plan.module {
  // expected-error @below {{need a multiple of 4096 bytes, have 64}}
  plan.arena @a persistent : !plan.buffer<ssd, 64>
}

// -----

plan.module {
  // expected-error @below {{need touched in [0, 64], have 65}}
  plan.arena @a transient : !plan.buffer<ram, 64> touched 65
}

// -----

// expected-error @below {{need 1 to 4096 workers, have 0}}
plan.module attributes {workers = 0} {

}

// -----

// expected-error @below {{need an io_depth of at least 1, have 0}}
plan.module attributes {io_depth = 0} {

}

// -----

// expected-error @below {{need stack_bytes that are a multiple of 4096, have 1}}
plan.module attributes {stack_bytes = 1} {

}

// -----

plan.module {
  // expected-error @below {{need constants, states, arenas and programs in plan.module}}
  %0 = "plan.alloc"() <{align = 64 : i64}> : () -> !plan.buffer<64>
}

// -----

plan.module {
  // expected-error @below {{need a constant of 4 bytes to start from, have @w}}
  plan.state @s f32[1] bytes 4 init @w
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a constant or state of the module, have @w}}
    %w = plan.resident @w : <4>
    plan.return
  }
}

// -----

plan.module {
  plan.constant @w f32[1] bytes 4 at 0
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need the 4 bytes of @w, have 8}}
    %w = plan.resident @w : <8>
    plan.return
  }
}

// -----

plan.module {
  plan.state @s f32[1] bytes 4
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a constant for what lies in the weight file, have state @s}}
    %s = plan.resident @s in_file : <ssd, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.constant @w f32[1] bytes 4 at 0
  plan.program @p tiered io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need an arena of the module, have @a}}
    %w = plan.resident @w in @a[0] : <ram, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.constant @w f32[1] bytes 4 at 0
  plan.arena @a persistent : !plan.buffer<ram, 64>
  plan.program @p tiered io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a range in [0, 64) of @a, have [64, 68)}}
    %w = plan.resident @w in @a[64] : <ram, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.constant @w f32[1] bytes 4 at 0
  plan.arena @a persistent : !plan.buffer<ram, 64>
  plan.program @p tiered io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need the tier of @a}}
    %w = plan.resident @w in @a[0] : <gpu, 4>
    plan.return
  }
}

// -----

plan.module {
  // expected-error @below {{io 's': need a state of the module, have @s}}
  plan.program @p virtual io(in %s "s" f32[1] state @s : <ram, 4>) {
    plan.return
  }
}

// -----

plan.module {
  plan.state @s f32[2] bytes 8
  // expected-error @below {{io 's': need the 8 bytes of @s}}
  plan.program @p virtual io(in %s "s" f32[1] state @s : <ram, 4>) {
    plan.return
  }
}

// -----

// Programs.
plan.module {
  // expected-error @below {{io 'x': need a buffer in ram}}
  plan.program @p virtual io(in %x "x" f32[1] : <gpu, 4>) {
    plan.return
  }
}

// -----

plan.module {
  // expected-error @below {{io 'x': need 8 bytes for its shape, have 4}}
  plan.program @p virtual io(in %x "x" f32[2] : <ram, 4>) {
    plan.return
  }
}

// -----

plan.module {
  // expected-error @below {{io 'x': need a symbol for each scalar of its shape}}
  plan.program @p virtual io(in %x "x" f32[s0 max 2] : <ram, 8>) {
    plan.return
  }
}

// -----

plan.module {
  // expected-error @below {{io 'x': need a contiguous shape in row layout}}
  plan.program @p virtual io(in %x "x" f32[2] strides [2] : <ram, 12>) {
    plan.return
  }
}

// -----

plan.module {
  // expected-error @below {{need a name that ends with '.v', the variant}}
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) attributes {variant = "v"} {
    plan.return
  }
}

// -----

plan.module {
  // expected-error @below {{need plan.return at the end}}
  plan.program @p virtual io() {
    %a = plan.alloc : <4>
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need operations of the plan dialect in a program}}
    %c = arith.constant 0 : index
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a plan.wait for its token in the same region}}
    %t = plan.fill %y with 0 : <ram, 64> -> !plan.token
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a plan.wait for its token in the same region}}
    %t = plan.fill %y with 0 : <ram, 64> -> !plan.token
    plan.if %n {
      plan.wait %t
    }
    plan.return
  }
}

// -----

plan.module {
  plan.constant @w f32[1] bytes 4 at 0
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    %a = plan.resident @w : <4>
    // expected-error @below {{need one home for @w in a program}}
    %b = plan.resident @w : <4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a source for a launch with an instance number}}
    plan.launch "k"(w %y f32[1] : <ram, 64>) pure instance 1
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need pure for a launch with an instance number}}
    plan.launch "k"(w %y f32[1] : <ram, 64>) instance 1 from "n"
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    plan.launch "k"(w %y f32[1] : <ram, 64>) pure instance 1 from "n"
    // expected-error @below {{need an instance number of its own among the clones of "n", have 1}}
    plan.launch "k"(w %y f32[1] : <ram, 64>) pure instance 1 from "n"
    plan.return
  }
}

// -----

plan.module {
  plan.state @s f32[1] bytes 4
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    %s = plan.resident @s : <4>
    plan.launch "k"(r %s f32[1] : <4>, w %y f32[1] : <ram, 64>) pure from "n"
    plan.fill %s with 0 : <4>
    // expected-error @below {{need the version of state @s that instance 0 reads; step 1 writes it between}}
    plan.launch "k"(r %s f32[1] : <4>, w %y f32[1] : <ram, 64>) pure instance 1 from "n"
    plan.return
  }
}

// -----

plan.module {
  plan.state @s f32[1] bytes 4
  // expected-error @below {{need no write of a state before step 1 (commit), have one at step 0}}
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) attributes {commit = 1} {
    %s = plan.resident @s : <4>
    plan.fill %s with 0 : <4>
    plan.return
  }
}

// -----

plan.module {
  // expected-error @below {{need no commit in a program that writes no state}}
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) attributes {commit = 1} {
    plan.return
  }
}

// -----

// Single operations.
plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need an alignment that is a power of two and at least 64, have 32}}
    %a = plan.alloc align 32 : <4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p tiered io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need an alignment of at least 4096 on the ssd, have 64}}
    %a = plan.alloc at 0 : <ssd, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p tiered io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need an offset that is a multiple of 64, have 4}}
    %a = plan.alloc at 4 : <ram, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need sizes whose largest is that of the type, 4 bytes}}
    %a = plan.alloc group "g" sizes [8] : <4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    %a = plan.alloc : <64>
    // expected-error @below {{need a range in [0, 64), have [32, 96)}}
    %b = plan.view %a[32] : <64> to <64>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need the tier of the buffer that it is a part of}}
    %b = plan.view %y[32] : <ram, 64> to <gpu, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.arena @a transient : !plan.buffer<ram, 64>
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need an offset that is a multiple of 64, have 4}}
    %b = plan.view @a[4] : <ram, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{operand 0: need a range in [0, 64), have [60, 68)}}
    plan.launch "k"(r %y at 60 span 8 f32[1] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{operand 0: need 68 bytes for its shape, have 64}}
    plan.launch "k"(r %y f32[17] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{operand 0: need 2 scalars in dims for its shape, have 1}}
    plan.launch "k"(r %y f32[s1 max 2] : <ram, 64>) dims(%n)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{operand 0: need strides other than 0 where it writes}}
    plan.launch "k"(w %y f32[2] strides [0] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{candidate 'k': need one layout a buffer (1), have 2}}
    plan.launch "k"<layouts = [row, row]>(w %y f32[2] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need two of the 1 operands for an alias, have 0 on 1}}
    plan.launch "k"(w %y f32[2] : <ram, 64>) aliases [#plan.alias<in_place, 0 on 1>]
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{alias in_place: need a written operand on a read one}}
    plan.launch "k"(r %y f32[2] : <ram, 64>, w %y f32[2] : <ram, 64>) aliases [#plan.alias<in_place, 0 on 1>]
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{split 'rows': need halos for 1 buffers read, have 2}}
    plan.launch "k"(r %y f32[2] : <ram, 64>) splits [#plan.split<"rows", extent = 4, min_piece = 1, concat, halos = [1, 0, 0, 1, 0, 0]>]
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a token on a queue that runs beside the host}}
    plan.launch "k"(r %y f32[2] : <ram, 64>) on <stream>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    %a = plan.alloc : <32>
    // expected-error @below {{need buffers of equal sizes, have 32 and 64}}
    plan.copy %a to %y : <32> to <ram, 64>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need lower <= upper, have [2, 1]}}
    plan.check %n in [2, 1] "m"
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need an integer type, have f32}}
    %l = plan.load_scalar %y[0] f32 in [0, 1] : <ram, 64>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need an aligned element in [0, 64), have [60, 68)}}
    %l = plan.load_scalar %y[60] i64 in [0, 1] : <ram, 64>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    %e = plan.eval(%i = %n) -> 1 {
      // expected-error @below {{need 1 scalars, have 2}}
      plan.yield %i, %i
    }
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    %e = plan.eval(%i = %n) -> 1 {
      // expected-error @below {{need arith operations in plan.eval}}
      plan.check %i in [0, 1] "m"
      plan.yield %i
    }
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need an else region where it has results}}
    %e = plan.if %n -> 1 {
      plan.yield %n
    }
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a carried scalar as the condition of while}}
    plan.loop %i max 2 while {
    }
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need max trips of at least 0, have -1}}
    plan.loop %i max -1 {
    }
    plan.return
  }
}

// -----

// Stage virtual.
plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a buffer without tier and offset in stage virtual}}
    %a = plan.alloc : <ram, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.constant @w f32[1] bytes 4 at 0
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a resident without home in stage virtual}}
    %w = plan.resident @w in_file : <ssd, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need no workspace in stage virtual; a candidate states its bytes}}
    plan.launch "k"(w %y f32[1] : <ram, 64>) workspace(%y : !plan.buffer<ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need no marks in stage virtual}}
    plan.mark birth %y : <ram, 64>
    plan.return
  }
}

// -----

plan.module {
  plan.arena @a transient : !plan.buffer<ram, 4096>
  plan.program @p virtual io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need no views of arenas in stage virtual}}
    %v = plan.view @a[0] : <ram, 64>
    plan.return
  }
}

// -----

// Stage tiered.
plan.module {
  plan.program @p tiered io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a tier and a recorded offset in stage tiered}}
    %a = plan.alloc : <ram, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.constant @w f32[1] bytes 4 at 0
  plan.program @p tiered io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a home in stage tiered}}
    %w = plan.resident @w : <4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p tiered io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need one candidate in stage tiered, have 2}}
    plan.launch "k" | "m"(w %y f32[1] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p tiered io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a workspace of 512 bytes (shared + workers * scratch), have 0}}
    plan.launch "k"<scratch = 64>(w %y f32[1] : <ram, 64>)
    plan.return
  }
}

// -----

// Stage placed.
plan.module {
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need no alloc in stage placed}}
    %a = plan.alloc at 0 : <ram, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a kernel without cost, layouts, numerics, label and alias support in stage placed}}
    plan.launch "k"<ns = 1>(w %y f32[1] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need no pure, group, aliases and splits in stage placed}}
    plan.launch "k"(w %y f32[1] : <ram, 64>) pure
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{operand 0: need a view in place of a range in stage placed}}
    plan.launch "k"(w %y at 4 f32[1] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{operand 0: need dimensions and strides that are a number or a scalar in stage placed}}
    plan.launch "k"(w %y f32[2, s0 max 2] : <ram, 64>) dims(%n)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need just the scalars of its shapes in dims, in the order of their first use, in stage placed}}
    plan.launch "k"(w %y f32[1] : <ram, 64>) dims(%n)
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    %t = plan.fill %y with 0 : <ram, 64> -> !plan.token
    // expected-error @below {{need a plan.wait in place of after in stage placed}}
    plan.copy %y to %y after %t : <ram, 64> to <ram, 64>
    plan.wait %t
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a step in its else region, or no else region, in stage placed}}
    plan.if %n {
      plan.check %n in [0, 1] "m"
    } else {
      plan.yield
    }
    plan.return
  }
}

// -----

plan.module {
  plan.state @s f32[1] bytes 4
  plan.arena @b persistent : !plan.buffer<ram, 64>
  // expected-error @below {{need commit in a program that writes a state, in stage placed}}
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    %s = plan.resident @s in @b[0] : <ram, 4>
    plan.fill %s with 0 : <ram, 4>
    plan.return
  }
}

// -----

plan.module {
  // expected-error @below {{io 'x': need dimensions that are a number or a symbol in stage placed}}
  plan.program @p placed symbols(%n "N" in [0, 1]) io(in %x "x" f32[s0 * 2 max 2] : <ram, 8>) {
    plan.return
  }
}

// -----

plan.module {
  plan.constant @w f32[1] bytes 4 at 0
  plan.program @p placed symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    plan.check %n in [0, 1] "m"
    // expected-error @below {{need residents before views and steps in stage placed}}
    %w = plan.resident @w in_file : <ssd, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.constant @w f32[1] bytes 4 at 0
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a home in stage placed}}
    %w = plan.resident @w : <4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    plan.check %n in [0, 1] "m"
    // expected-error @below {{need views at fixed offsets before all steps in stage placed}}
    %v = plan.view %y[4] : <ram, 64> to <ram, 4>
    plan.fill %v with 0 : <ram, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a view at a scalar's offset right before its first user in stage placed}}
    %v = plan.view %y[0 + %n] : <ram, 64> to <ram, 8>
    plan.check %n in [0, 1] "m"
    plan.fill %v with 0 : <ram, 8>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a use}}
    %v = plan.view %y[4] : <ram, 64> to <ram, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    %v = plan.view %y[4] : <ram, 64> to <ram, 8>
    // expected-error @below {{need a view of a whole buffer, not of a view, in stage placed}}
    %u = plan.view %v[4] : <ram, 8> to <ram, 4>
    plan.fill %u with 0 : <ram, 4>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a part of the buffer, not the whole, in stage placed}}
    %v = plan.view %y[0] : <ram, 64> to <ram, 64>
    plan.fill %v with 0 : <ram, 64>
    plan.return
  }
}

// -----

plan.module {
  plan.arena @a transient : !plan.buffer<ram, 4096>
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need one birth and one death, have 1 and 0}}
    %v = plan.view @a[0] : <ram, 64>
    plan.mark birth %v : <ram, 64>
    plan.launch "k"(w %v f32[1] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.arena @a transient : !plan.buffer<ram, 4096>
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    %v = plan.view @a[0] : <ram, 64>
    // expected-error @below {{need a death after the birth in the same block}}
    plan.mark death %v : <ram, 64>
    plan.mark birth %v : <ram, 64>
    plan.launch "k"(w %v f32[1] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.arena @a transient : !plan.buffer<ram, 4096>
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    %v = plan.view @a[0] : <ram, 64>
    plan.mark birth %v : <ram, 64>
    plan.mark death %v : <ram, 64>
    // expected-error @below {{need a buffer between its birth and its death}}
    plan.launch "k"(w %v f32[1] : <ram, 64>)
    plan.return
  }
}

// -----

plan.module {
  plan.arena @a transient : !plan.buffer<ram, 4096>
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    %v = plan.view @a[0] : <ram, 64>
    plan.mark birth %v : <ram, 64>
    %t = plan.fill %v with 0 : <ram, 64> -> !plan.token
    // expected-error @below {{need the death of a buffer after the plan.wait for a step that uses it}}
    plan.mark death %v : <ram, 64>
    plan.wait %t
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{need a view of an arena}}
    plan.mark birth %y : <ram, 64>
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{carried scalar 0: need a start computed in the same block and used by the loop only}}
    %r = plan.loop %t max 2 carry(%k = %n) {
      %e = plan.eval(%i = %n) -> 1 {
      plan.yield %i
    }
      plan.yield %e
    }
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    %s = plan.eval(%i = %n) -> 1 {
      plan.yield %i
    }
    // expected-error @below {{carried scalar 0: need a next value computed in the body and only yielded}}
    %r = plan.loop %t max 2 carry(%k = %s) {
      plan.yield %t
    }
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    %s = plan.eval(%i = %n) -> 1 {
      plan.yield %i
    }
    // expected-error @below {{carried scalar 0: need no use of its value after the next one is computed}}
    %r = plan.loop %t max 2 carry(%k = %s) {
      %e = plan.eval(%i = %n) -> 1 {
      plan.yield %i
    }
      plan.check %k in [0, 1] "m"
      plan.yield %e
    }
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    %s = plan.eval(%i = %n) -> 1 {
      plan.yield %i
    }
    %u = plan.eval(%i = %n) -> 1 {
      plan.yield %i
    }
    // expected-error @below {{need carried scalars in the order in which their starts are computed}}
    %r:2 = plan.loop %t max 2 carry(%k = %u, %l = %s) {
      %e = plan.eval(%i = %n) -> 1 {
      plan.yield %i
    }
      %f = plan.eval(%i = %n) -> 1 {
      plan.yield %i
    }
      plan.yield %e, %f
    }
    plan.return
  }
}

// -----

plan.module {
  plan.program @p placed symbols(%n "N" in [0, 1]) io(out %y "y" f32[16] : <ram, 64>) {
    // expected-error @below {{result 0: need a value computed in the region and only yielded}}
    %r = plan.if %n -> 1 {
      %e = plan.eval(%i = %n) -> 1 {
      plan.yield %i
    }
      plan.yield %e
    } else {
      plan.yield %n
    }
    plan.return
  }
}
