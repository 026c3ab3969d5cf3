// Gives the precompiled header a translation unit to hang on.
