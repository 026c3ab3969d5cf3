// Each rule of the verifiers about single operations has a case that breaks it alone.
// RUN: plim-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

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
    plan.launch "k"(r %y f32[2] : <ram, 64>) splits [#plan.split<"rows", extent = 4, min_piece = 1, concat, halos = [1, 0, 0, 1, 1, 0, 0, 1]>]
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
  plan.program @p tiered io(out %y "y" f32[16] : <ram, 64>) {
    %a = plan.alloc align 4096 at 0 : <ram, 4096>
    %s = plan.alloc align 4096 at 0 : <ssd, 4096>
    // expected-error @below {{need queue write to the ssd}}
    %t = plan.copy %a to %s on <read> : <ram, 4096> to <ssd, 4096> -> !plan.token
    plan.wait %t
    plan.return
  }
}

// -----

plan.module {
  plan.program @p tiered io(out %y "y" f32[16] : <ram, 64>) {
    %a = plan.alloc align 4096 at 0 : <ram, 4096>
    %s = plan.alloc align 4096 at 0 : <ssd, 4096>
    // expected-error @below {{need queue read from the ssd}}
    %t = plan.copy %s to %a on <write> : <ssd, 4096> to <ram, 4096> -> !plan.token
    plan.wait %t
    plan.return
  }
}

// -----

plan.module {
  plan.program @p tiered io(out %y "y" f32[16] : <ram, 64>) {
    %r = plan.alloc align 4096 at 0 : <ssd, 4096>
    %s = plan.alloc align 4096 at 4096 : <ssd, 4096>
    // expected-error @below {{need one end in the ram, have both on the ssd}}
    plan.copy %r to %s : <ssd, 4096> to <ssd, 4096>
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
