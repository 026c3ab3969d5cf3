// Operators that are known and refused, with the reason that an error gives.
#include "compiler/Import/Onnx/OperatorTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace plim::onnx;

namespace {

struct Refusal {
  const char *domain, *name, *reason;
};

constexpr const char *strings = "strings are not supported";
constexpr const char *training = "training is not supported";
constexpr const char *random = "random numbers are not supported: a run gives the same results each time";
constexpr const char *mlDomain = "ai.onnx.ml", *trainingDomain = "ai.onnx.preview.training";

constexpr Refusal refusals[] = {
    {"", "Bernoulli", random},
    {"", "ImageDecoder", "images are decoded before the model: strings of bytes have no shape"},
    {"", "Multinomial", random},
    {"", "RandomNormal", random},
    {"", "RandomNormalLike", random},
    {"", "RandomUniform", random},
    {"", "RandomUniformLike", random},
    {"", "RegexFullMatch", strings},
    {"", "StringConcat", strings},
    {"", "StringNormalizer", strings},
    {"", "StringSplit", strings},
    {mlDomain, "CastMap", "maps are not supported"},
    {mlDomain, "CategoryMapper", strings},
    {mlDomain, "DictVectorizer", "maps are not supported"},
    {mlDomain, "LabelEncoder", strings},
    {mlDomain, "ZipMap", "maps are not supported"},
    {trainingDomain, "Adagrad", training},
    {trainingDomain, "Adam", training},
    {trainingDomain, "Gradient", training},
    {trainingDomain, "Momentum", training},
};

} // namespace

const char *plim::onnx::refusalOf(llvm::StringRef domain, llvm::StringRef name) {
  for (const Refusal &refusal : refusals)
    if (ownDomain(domain) == refusal.domain && name == refusal.name)
      return refusal.reason;
  return nullptr;
}
