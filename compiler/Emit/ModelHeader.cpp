//===- ModelHeader.cpp - model.h: names and sizes for C programs -------------------------===//
#include "compiler/Emit/ModelHeader.h"
#include "compiler/Emit/PlanReport.h"
#include <cctype>
#include <set>

namespace plim::emit {
namespace {

std::string macroName(const std::string &name) {
  std::string out;
  for (unsigned char c : name)
    out += std::isalnum(c) ? char(std::toupper(c)) : '_';
  return out;
}

/// A name inside a C comment: no comment ends, nothing unprintable.
std::string textOf(const std::string &name) {
  std::string out;
  for (unsigned char c : name) {
    bool endsComment = c == '/' && !out.empty() && out.back() == '*';
    out += !std::isprint(c) || endsComment ? '?' : char(c);
  }
  return out;
}

/// A name as a C string of exactly its bytes: three octal digits for what is not printable, no trigraphs.
std::string literalOf(const std::string &name) {
  std::string out = "\"";
  for (unsigned char c : name)
    if (!std::isprint(c))
      out += {'\\', char('0' + (c >> 6)), char('0' + (c >> 3 & 7)), char('0' + (c & 7))};
    else if (c == '\\' || c == '"' || c == '?')
      out += {'\\', char(c)};
    else
      out += char(c);
  return out + "\"";
}

std::string dimsText(const Json &dims) {
  std::string out;
  for (const Json &d : dims)
    out += (out.empty() ? "" : ", ") +
           (d.is_number() ? std::to_string(d.get<int64_t>()) : "<= " + std::to_string(d["bound"].get<int64_t>()));
  return "[" + out + "]";
}

/// The last arguments of plim_bind_input: nothing where all dimensions are fixed, else those of the largest size.
std::string dimsArgument(const Json &dims) {
  std::string list;
  bool open = false;
  for (const Json &d : dims) {
    open |= !d.is_number();
    list += (list.empty() ? "" : ", ") + std::to_string(d.is_number() ? d.get<int64_t>() : d["bound"].get<int64_t>());
  }
  return open ? "(const int64_t[]){" + list + "}, " + std::to_string(dims.size()) : "NULL, 0";
}

std::string constant(const std::string &macro, uint64_t value) {
  return "#define " + macro + " UINT64_C(" + std::to_string(value) + ")\n";
}

struct Writer {
  std::string upper, binds, buffers, entries, states, variants;

  /// `inExample`: the example at the head of the file binds it.
  void addIO(const std::string &macro, const char *kind, const Json &io, bool inExample) {
    std::string name = io["name"], one = macro + (kind[0] == 'i' ? "_INPUT_" : "_OUTPUT_") + macroName(name);
    // Different names may have one macro name: the later ones get a number.
    std::string plain = one;
    for (int number = 2; !macros.insert(one).second; ++number)
      one = plain + "_" + std::to_string(number);
    entries += "\n/* " + std::string(kind) + " \"" + textOf(name) + "\": " + io["dtype"].get<std::string>() + " " +
               dimsText(io["dims"]) + (io.value("reused", false) ? "; a run overwrites it" : "") + " */\n";
    entries += "#define " + one + " " + literalOf(name) + "\n" + constant(one + "_BYTES", io["bytes"]);
    if (!inExample)
      return;
    std::string buffer = (kind[0] == 'i' ? "in" : "out") + std::to_string(count[kind[0] == 'i']++);
    buffers += " *     static _Alignas(64) char " + buffer + "[" + one + "_BYTES];\n";
    if (kind[0] == 'i')
      binds += " *     if (!st) st = plim_bind_input(session, PLIM_NONE, " + one + ", " + buffer + ", sizeof " +
               buffer + ", " + dimsArgument(io["dims"]) + ");\n";
    else
      binds += " *     if (!st) st = plim_bind_output(session, PLIM_NONE, " + one + ", " + buffer + ", sizeof " +
               buffer + ");\n";
  }
  void addState(const Json &state) {
    std::string name = state["name"], one = upper + "_STATE_" + macroName(name), plain = one;
    if (!known.insert(name).second)
      return;
    for (int number = 2; !macros.insert(one).second; ++number)
      one = plain + "_" + std::to_string(number);
    states += "#define " + one + " " + literalOf(name) + "\n" + constant(one + "_BYTES", state["bytes"]);
  }
  void addVariant(const Json &variant) {
    std::string name = variant["name"], one = upper + "_VARIANT_" + macroName(name), plain = one;
    for (int number = 2; !macros.insert(one).second; ++number)
      one = plain + "_" + std::to_string(number);
    variants += "#define " + one + " " + literalOf(name) + "\n" +
                constant(one + "_RESERVED_BYTES", variant["reserved_peak"]["ram"]);
  }
  int count[2] = {0, 0};
  std::set<std::string> macros, known;
};

} // namespace

std::string modelHeader(const plim_table *table, const std::string &prefix) {
  Json plan = planJson(table, prefix);
  Writer w;
  w.upper = macroName(prefix);
  const std::string firstEntry = plan["programs"].empty() ? "" : plan["programs"][0]["name"].get<std::string>();
  const Json &variants = plan["variants"];
  if (variants.size() > 1)
    for (const Json &variant : variants)
      w.addVariant(variant);
  for (const Json &p : plan["programs"]) {
    // Variants differ in memory alone.
    if (p["variant"] != variants[0]["name"])
      continue;
    std::string entry = p["name"], macro = w.upper + "_" + macroName(entry);
    w.entries += "\n/* Entry \"" + textOf(entry) + "\": what the runtime reserves in RAM, caller's buffers apart";
    w.entries += w.variants.empty() ? ". */\n" : "; of the first variant. */\n";
    w.entries += "#define " + macro + " " + literalOf(entry) + "\n";
    w.entries += constant(macro + "_RESERVED_BYTES", p["reserved_peak"]["ram"]);
    for (const Json &io : p["inputs"])
      w.addIO(macro, "input", io, entry == firstEntry);
    for (const Json &io : p["outputs"])
      w.addIO(macro, "output", io, entry == firstEntry);
    for (const Json &resident : p["residents"])
      if (resident["kind"] == "state")
        w.addState(resident);
  }
  std::string first = macroName(firstEntry);
  const std::string &n = prefix;
  return "/* " + n + ", a model compiled by plimc.\n *\n *   #include \"" + n + ".h\"\n *\n *   int main(void) {\n" +
         w.buffers +
         " *     plim_scope scope;\n"
         " *     plim_weights *weights = NULL;\n"
         " *     plim_context *context = NULL;\n"
         " *     plim_session *session = NULL;\n"
         " *     plim_status st = plim_find(&" +
         n + "_model, " + w.upper + "_" + first +
         ", NULL, &scope);\n"
         " *     if (!st) st = plim_weights_create(&" +
         n +
         "_model, scope, \"model.weights\", NULL, &weights);\n"
         " *     if (!st) st = plim_context_create(weights, scope, NULL, &context);\n"
         " *     if (!st) st = plim_session_create(weights, scope, NULL, &session);\n" +
         w.binds +
         " *     if (!st) st = plim_run(session, context, PLIM_NONE, NULL);\n"
         " *     if (st) fprintf(stderr, \"%s\\n\", plim_last_error()->message);\n"
         " *     plim_session_destroy(session);\n"
         " *     plim_context_destroy(context);\n"
         " *     plim_weights_destroy(weights);\n"
         " *     return st != PLIM_OK;\n"
         " *   }\n"
         " *\n"
         " *   cc main.c model.o -lplim_rt -lplim_kernels -lpthread -lm\n"
         " */\n"
         "#ifndef PLIM_MODEL_" +
         w.upper + "_H\n#define PLIM_MODEL_" + w.upper +
         "_H\n\n"
         "#include \"plim/plim.h\"\n#include <stdio.h>\n\n"
         "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
         "extern const plim_model " +
         n +
         "_model;\n"
         "/* Of the file model.weights. */\n" +
         constant(w.upper + "_WEIGHTS_FILE_BYTES", plan["weights_bytes"]) + w.entries +
         (w.variants.empty() ? ""
                             : "\n/* Variants, the fastest first, for plim_find, and what all entries of each reserve "
                               "in RAM. */\n" +
                                   constant(w.upper + "_VARIANTS", variants.size()) + w.variants) +
         (w.states.empty() ? "" : "\n/* States of a session, for plim_state_data. */\n" + w.states) +
         "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

} // namespace plim::emit
