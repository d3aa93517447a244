#include "coll/schedule/tree_recipe.hpp"

#include <fmt/format.h>

#include <charconv>

namespace aqueduct::coll {

namespace {

constexpr std::uint32_t kMostInClass = 65536;
constexpr std::size_t kMostShown = 40;

bool is_space(char letter) noexcept {
  return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

/// Takes the next word off the front; empty at the end.
std::string_view take_word(std::string_view& rest) noexcept {
  while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
  std::size_t length = 0;
  while (length < rest.size() && !is_space(rest[length])) ++length;
  const std::string_view word = rest.substr(0, length);
  rest.remove_prefix(length);
  return word;
}

bool take_front(std::string_view& word, std::string_view front) noexcept {
  if (word.substr(0, front.size()) != front) return false;
  word.remove_prefix(front.size());
  return true;
}
bool take_end(std::string_view& word, std::string_view end) noexcept {
  if (word.size() < end.size() || word.substr(word.size() - end.size()) != end) return false;
  word.remove_suffix(end.size());
  return true;
}

bool read_number(std::string_view word, std::uint32_t& value) noexcept {
  const char* const end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, value);
  return read.ec == std::errc() && read.ptr == end && !word.empty();
}
bool read_number(std::string_view word, std::uint32_t least, std::uint32_t& value) noexcept {
  return read_number(word, value) && value >= least && value <= kMostInClass;
}

bool read_class(std::string_view word, TreeClass& out) noexcept {
  using Kind = TreeClass::Kind;
  out = {};
  if (word == "flat" || word == "chain") {
    out.kind = word == "flat" ? Kind::flat : Kind::chain;
    return true;
  }
  if (take_front(word, "fork:")) {
    out.kind = Kind::fork;
    const std::size_t cross = word.find('x');
    return cross != std::string_view::npos && read_number(word.substr(0, cross), 1, out.row) &&
           read_number(word.substr(cross + 1), 1, out.rows);
  }
  out.kind = take_end(word, "-ary") ? Kind::k_ary : Kind::k_nomial;
  return (out.kind == Kind::k_ary || take_end(word, "-nomial")) && read_number(word, 2, out.radix);
}

/// "3,1,0,2", and if there may be a root, "-" for one of them.
bool read_list(std::string_view word, bool with_root, std::vector<Rank>& out) {
  out.clear();
  while (true) {
    const std::size_t end = word.find(',');
    const std::string_view one = word.substr(0, end);
    std::uint32_t value = kNoRank;
    const bool is_root = with_root && one == "-";
    if (!is_root && (!read_number(one, value) || value == kNoRank)) return false;
    out.push_back(value);
    if (end == std::string_view::npos) return true;
    word.remove_prefix(end + 1);
  }
}

std::string wrong_order(const std::vector<Rank>& order) {
  std::vector<bool> seen(order.size());
  for (const Rank member : order) {
    if (member >= order.size())
      return fmt::format("the order names {}, which is none of its {} members", member, order.size());
    if (seen[member]) return fmt::format("the order names {} twice", member);
    seen[member] = true;
  }
  return {};
}

/// The first letters of a word, without what a terminal would obey: it may come from any file.
std::string shown(std::string_view word) {
  std::string text(word.substr(0, kMostShown));
  for (char& letter : text) {
    if (letter < ' ' || letter == 0x7f) letter = '?';
  }
  return word.size() > kMostShown ? text + "…" : text;
}

constexpr const char* kClasses =
    "a tree is K-ary, K-nomial, flat, chain or fork:ROWxROWS, with numbers of at most 65536";

std::string read_words(std::string_view rest, TreeRecipe& out) {
  std::string_view word = take_word(rest);
  if (take_front(word, "parents=")) {
    if (!read_list(word, true, out.parents))
      return "parents are whole numbers with commas between them, and - for the root";
    if (!take_word(rest).empty()) return "nothing may follow the parents";
    return TeamTree::objection(out.parents);
  }
  if (!read_class(word, out.over_all)) return kClasses;
  for (word = take_word(rest); !word.empty(); word = take_word(rest)) {
    if (word == "over") {
      if (out.in_portions) return "\"over\" is there twice: give one tree in portions and one over them";
      if (!read_class(take_word(rest), out.in_portions.emplace())) return kClasses;
    } else if (take_front(word, "portion=")) {
      out.portion = 0;
      if (word != "hosts" && (!read_number(word, out.portion) || out.portion == 0))
        return "a portion is hosts or a whole number from 1 on";
    } else if (take_front(word, "order=")) {
      out.by_hosts = word == "hosts";
      out.order.clear();
      if (!out.by_hosts && !read_list(word, false, out.order))
        return "an order is hosts or whole numbers with commas between them";
    } else {
      return fmt::format("\"{}\" is none of over, portion= and order=", shown(word));
    }
  }
  if (out.portion != 0 && !out.in_portions) return "portions want a second tree: CLASS over CLASS";
  if (out.in_portions && out.portion == 0 && !out.order.empty())
    return "portions of hosts have an order already; say how many members a portion has";
  return wrong_order(out.order);
}

}  // namespace

RecipeRead read_tree_recipe(std::string_view text) {
  RecipeRead out;
  out.problem = read_words(text, out.recipe);
  return out;
}

}  // namespace aqueduct::coll
