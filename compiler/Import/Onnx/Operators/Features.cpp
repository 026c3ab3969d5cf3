// Operators of classical machine learning on numbers: n-grams counted, features chosen and cut at a threshold.
#include "compiler/Import/Onnx/Operators/Term.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

constexpr const char *mlDomain = "ai.onnx.ml";

/// How often each n-gram of a pool occurs in rows of integers, with up to `max_skip_count` left out between its items.
LogicalResult tfIdfVectorizer(NodeImporter &n) {
  const StringRef mode = n.string("mode", "");
  const int64_t least = n.integer("min_gram_length", 1), most = n.integer("max_gram_length", 1),
                skips = n.integer("max_skip_count", 0);
  const auto counts = n.integers("ngram_counts"), indexes = n.integers("ngram_indexes"),
             pool = n.integers("pool_int64s");
  const auto weights = n.reals("weights");
  if (n.has("pool_strings"))
    return n.error("strings are not supported");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return n.error("attribute 'mode' must be TF, IDF or TFIDF, have '" + mode + "'");
  if (!counts || !indexes || !pool)
    return n.error("attributes 'ngram_counts', 'ngram_indexes' and 'pool_int64s' are needed");
  if (!n.needStatic(n[0], "TfIdfVectorizer"))
    return failure();
  const auto shape = n.type(0).getShape();
  if ((shape.size() != 1 && shape.size() != 2) || !isa<IntegerType>(n.type(0).getElementType()))
    return n.error("need integers of 1 or 2 dimensions");
  constexpr int64_t mostOutputs = 1 << 20, mostLength = 64;
  if (least < 1 || most < least || most > mostLength || skips < 0 || skips > 1024)
    return n.error("need 1 <= min_gram_length <= max_gram_length <= 64 and max_skip_count of 0 to 1024");
  int64_t outputs = 0;
  for (int64_t index : *indexes) {
    if (index < 0 || index >= mostOutputs)
      return n.error("attribute 'ngram_indexes' holds " + Twine(index));
    outputs = std::max(outputs, index + 1);
  }
  if (weights && int64_t(weights->size()) < outputs)
    return n.error("need " + Twine(outputs) + " weights, have " + Twine(weights->size()));

  const int64_t rows = shape.size() == 2 ? shape[0] : 1, length = shape.back();
  Term x = Term(n, n[0]).reshape({rows, length});
  const Type item = n.type(0).getElementType(), element = n.b.getF32Type();
  Term total(n, n.fill({rows, outputs}, 0, element));
  size_t nextGram = 0;
  for (size_t i = 0; i < counts->size(); ++i) {
    const int64_t size = int64_t(i) + 1, begin = (*counts)[i];
    const int64_t end = i + 1 < counts->size() ? (*counts)[i + 1] : int64_t(pool->size());
    if (begin < 0 || end < begin || end > int64_t(pool->size()) || (end - begin) % size ||
        nextGram + (end - begin) / size > indexes->size())
      return n.error("attribute 'ngram_counts' does not divide a pool of " + Twine(pool->size()) + " items for " +
                     Twine(indexes->size()) + " n-grams");
    const int64_t grams = (end - begin) / size;
    const size_t firstGram = nextGram;
    nextGram += grams;
    if (grams == 0 || size < least || size > most)
      continue;
    // Each distance between the items once; single items have none.
    for (int64_t distance = 1; distance <= (size == 1 ? 1 : skips + 1); ++distance) {
      const int64_t starts = length - distance * (size - 1);
      if (starts < 1)
        break;
      Term hits(n, {});
      for (int64_t k = 0; k < size; ++k) {
        SmallVector<double> wanted;
        for (int64_t gram = 0; gram < grams; ++gram)
          wanted.push_back(double((*pool)[begin + gram * size + k]));
        Term here = x.slice(1, k * distance, starts).unsqueeze(2) == numbers(n, wanted, {1, 1, grams}, item);
        hits = hits ? both(hits, here) : here;
      }
      Term found = hits.cast(element).reduce(graph::ReduceKind::Sum, {1}, false);
      // To the places that the indexes say.
      SmallVector<double> places;
      for (int64_t gram = 0; gram < grams; ++gram)
        places.push_back(double((*indexes)[firstGram + gram]));
      Term at = numbers(n, places, {1, grams}, n.b.getI64Type()).broadcast({rows, grams});
      total =
          at && found
              ? Term(n, n.make<graph::ScatterElementsOp>(total, at, found, int64_t(1), graph::ScatterReduction::Add))
              : Term(n, {});
    }
  }
  if (mode == "IDF" && total)
    total = (total.number(0) < total).cast(element);
  if (mode != "TF" && weights)
    total = total * numbers(n, ArrayRef(*weights).take_front(outputs), {1, outputs}, element);
  return n.finish(shape.size() == 2 ? total : total.reshape({outputs}));
}

LogicalResult arrayFeatureExtractor(NodeImporter &n) {
  const int64_t rank = n.type(0).getRank();
  if (rank < 1 || !n.type(1).hasStaticShape())
    return n.error("need at least 1 dimension and indices of a static shape");
  Term at = Term(n, n[1]).reshape({n.type(1).getNumElements()});
  Term chosen = Term(n, n[0]).gather(at, rank - 1);
  return n.finish(rank == 1 ? chosen.unsqueeze(0) : chosen);
}

LogicalResult binarizer(NodeImporter &n) {
  Term x(n, n[0]);
  return n.finish((x.number(n.real("threshold", 0)) < x).cast(x.element()));
}

constexpr OperatorRow rows[] = {
    {"TfIdfVectorizer", 1, 1, tfIdfVectorizer, 9, noVersion, "", "integers, static shapes"},
    {"ArrayFeatureExtractor", 2, 2, arrayFeatureExtractor, 1, noVersion, mlDomain},
    {"Binarizer", 1, 1, binarizer, 1, noVersion, mlDomain},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::featureOperators() { return rows; }
