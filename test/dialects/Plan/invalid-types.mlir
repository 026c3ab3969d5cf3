// Each rule of the verifiers about types and attributes has a case that breaks it alone.
// RUN: plim-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

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
    // expected-error @below {{need the name of a kernel, have ""}}
    plan.launch ""(w %y f32[2] : <ram, 64>)
    plan.return
  }
}

// -----

// expected-error @below {{need the name of a kernel, have ""}}
plan.module attributes {some = #plan.candidate<"">} {
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
    // expected-error @below {{need four halo numbers a buffer read, have 2}}
    plan.launch "k"(r %y f32[2] : <ram, 64>) splits [#plan.split<"rows", extent = 4, min_piece = 1, concat, halos = [1, 0]>]
    plan.return
  }
}
