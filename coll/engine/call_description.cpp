#include "coll/engine/call_description.hpp"

#include <aqueduct/status.hpp>

#include "coll/engine/call_text.hpp"
#include "coll/schedule/shape.hpp"
#include "coll/tune/operation_word.hpp"

#include <array>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace aqueduct::coll {
namespace {

constexpr std::array<std::string_view, 19> kCallTypes{
    "bytes",       "i8",        "i16",       "i32",       "i64",      "u8",  "u16",
    "u32",         "u64",       "half",      "bfloat16",  "f32",      "f64", "complex_f32",
    "complex_f64", "i32_index", "i64_index", "f32_index", "f64_index"};
constexpr std::array<std::string_view, 13> kCallOps{
    "sum",         "product",    "min",         "max",       "bit_and",   "bit_or", "bit_xor",
    "logical_and", "logical_or", "logical_xor", "min_index", "max_index", "user"};
constexpr std::array<std::string_view, 3> kCallSyncs{"none", "mine", "all"};
constexpr std::array<std::string_view, 3> kCallOrders{"any", "same_everywhere", "exact"};
static_assert(kCallTypes.size() == static_cast<std::size_t>(ElementType::f64_index) + 1);
static_assert(kCallOps.size() == static_cast<std::size_t>(ReduceOp::user) + 1);

// A peer may have sent any value.
template <class E, std::size_t N>
std::string_view call_word(const std::array<std::string_view, N>& names, E value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : "unknown";
}

/// Adds things in brackets: " (f64, sum)".
class CallDetails {
 public:
  explicit CallDetails(CallText& text) noexcept : text_(text) {}
  template <class... T>
  void add(fmt::format_string<T...> format, const T&... args) noexcept {
    text_.add("{}", empty_ ? " (" : ", ");
    text_.add(format, args...);
    empty_ = false;
  }
  void end() noexcept {
    if (!empty_) text_.add(")");
  }

 private:
  CallText& text_;
  bool empty_ = true;
};

}  // namespace

// What is as in most calls stays unsaid. Two calls that differ in more than the algorithm have different texts.
void add_call(CallText& text, const CallDescription& call) noexcept {
  if ((call.facts & CallDescription::kBinds) != 0) text.add("bind of a plan of ");
  if ((call.facts & CallDescription::kEnds) != 0) text.add("end of a plan of ");
  if (call.operation <= Collective::all_to_all_v)
    text.add("{}", operation_word(call.operation));
  else
    text.add("operation {}", static_cast<unsigned>(call.operation));
  const bool of_bytes = call.operation != Collective::barrier && call.operation != Collective::permute &&
                        !has_counts(call.operation);
  if (of_bytes || call.bytes != 0) text.add(" of {} {}", call.bytes, call.bytes == 1 ? "byte" : "bytes");
  CallDetails details(text);
  const bool combines = reduces(call.operation);
  if (call.type != ElementType::bytes) details.add("{}", call_word(kCallTypes, call.type));
  if (call.type == ElementType::bytes && call.element != 1) details.add("elements of {} bytes", call.element);
  if (call.op == ReduceOp::user)
    details.add("operator {} of the user{}", call.number,
                (call.facts & CallDescription::kOrdered) != 0 ? ", not commutative" : "");
  else if (combines || call.op != ReduceOp::sum)
    details.add("{}", call_word(kCallOps, call.op));
  if (has_root(call.operation) || call.root != 0) details.add("root {}", call.root);
  if (call.order != ReduceOrder::any) details.add("{}", call_word(kCallOrders, call.order));
  if (call.in != Sync::all || call.out != Sync::all)
    details.add("in {}, out {}", call_word(kCallSyncs, call.in), call_word(kCallSyncs, call.out));
  if ((call.facts & CallDescription::kKnownPlaces) != 0) details.add("places on all members");
  if ((call.facts & CallDescription::kSourcesKnown) != 0) details.add("sources known");
  if ((call.facts & CallDescription::kNoTrial) != 0) details.add("no trials");
  details.end();
}

void add_refusal(CallText& text, std::uint16_t code) noexcept {
  if (code <= static_cast<std::uint16_t>(ErrorCode::internal))
    text.add("{}", describe(static_cast<ErrorCode>(code)).name);
  else
    text.add("error {}", code);
}

std::string text_of(const CallDescription& call) {
  CallText text;
  add_call(text, call);
  if (call.refused != 0) {
    text.add(", refused with ");
    add_refusal(text, call.refused);
  }
  return std::string(text.view());
}

std::uint64_t digest_of(const CallDescription& call) noexcept {
  static_assert(std::has_unique_object_representations_v<CallDescription>);
  std::array<std::uint64_t, sizeof(CallDescription) / 8> words;
  std::memcpy(words.data(), &call, sizeof call);
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (const std::uint64_t word : words) {
    hash = (hash ^ word) * 0x94d049bb133111ebu;
    hash ^= hash >> 32;
  }
  return hash;
}

std::uint32_t fingerprint(std::uint64_t number, const CallDescription& call) noexcept {
  return fingerprint(number, digest_of(call));
}

}  // namespace aqueduct::coll
