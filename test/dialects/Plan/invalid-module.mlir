// Each rule of the verifiers about modules has a case that breaks it alone.
// RUN: plim-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

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
