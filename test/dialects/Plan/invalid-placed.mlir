// Each rule of the verifiers about the stage placed has a case that breaks it alone.
// RUN: plim-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

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

// -----

// A buffer that slides over bytes of itself: nothing stands between birth, copy and death.
plan.module {
  plan.arena @arena0 transient : !plan.buffer<ram, 192>
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    %a = plan.view @arena0[64] : <ram, 128>
    %b = plan.view @arena0[0] : <ram, 128>
    plan.mark birth %a : <ram, 128>
    plan.launch "k"(w %a f32[32] : <ram, 128>)
    plan.mark birth %b : <ram, 128>
    plan.launch "k"(w %y f32[16] : <ram, 64>)
    // expected-error @below {{need the birth of its target right before and the death of its source right after}}
    plan.copy %a to %b : <ram, 128> to <ram, 128>
    plan.mark death %a : <ram, 128>
    plan.launch "m"(r %b f32[32] : <ram, 128>, w %y f32[16] : <ram, 64>)
    plan.mark death %b : <ram, 128>
    plan.return
  }
}

// -----

plan.module {
  plan.arena @arena0 transient : !plan.buffer<ram, 192>
  plan.program @p placed io(out %y "y" f32[16] : <ram, 64>) {
    %a = plan.view @arena0[64] : <ram, 128>
    %b = plan.view @arena0[0] : <ram, 128>
    plan.mark birth %a : <ram, 128>
    plan.launch "k"(w %a f32[32] : <ram, 128>)
    plan.mark birth %b : <ram, 128>
    plan.copy %a to %b : <ram, 128> to <ram, 128>
    plan.mark death %a : <ram, 128>
    plan.launch "m"(r %b f32[32] : <ram, 128>, w %y f32[16] : <ram, 64>)
    plan.mark death %b : <ram, 128>
    plan.return
  }
}
