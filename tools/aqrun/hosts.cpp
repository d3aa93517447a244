#include "tools/aqrun/hosts.hpp"

#include "core/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include <sys/stat.h>

namespace aqrun {
namespace {

constexpr std::uint32_t kMostSlots = 1u << 20;  // chosen: a larger number is a typing error
constexpr std::size_t kLongestHostLine =
    4096;  // chosen: a file without lines, as /dev/zero, is no list of hosts
constexpr std::string_view kForm = "a line is: name [slots=K]";

using aqueduct::core::quoted;

/// Accepts what ssh accepts (user@host, IPv4 and IPv6 addresses), but nothing that looks like an option.
bool is_name(std::string_view word) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:@%";
  return word.front() != '-' && word.find_first_not_of(kLetters) == std::string_view::npos;
}

bool read_slots(std::string_view word, std::uint32_t& slots) {
  constexpr std::string_view kStart = "slots=";
  if (!word.starts_with(kStart)) return false;
  word.remove_prefix(kStart.size());
  const char* end = word.data() + word.size();
  const auto [stopped, error] = std::from_chars(word.data(), end, slots);
  return error == std::errc{} && stopped == end && slots >= 1 && slots <= kMostSlots;
}

/// Reads a line that is not empty. Returns what is wrong with it, or nothing.
std::string read_line(std::istringstream& words, Host& host) {
  words >> host.name;
  if (!is_name(host.name)) return fmt::format("'{}' is not a valid host name; {}", quoted(host.name), kForm);
  for (std::string word; words >> word;) {
    if (host.slots != 0) return fmt::format("unexpected {} after slots=; {}", quoted(word), kForm);
    if (!read_slots(word, host.slots))
      return fmt::format("unexpected {}; {}, with K from 1 to {}", quoted(word), kForm, kMostSlots);
  }
  return {};
}

}  // namespace

std::variant<std::vector<Host>, std::string> read_hosts(std::istream& in, const std::string& file) {
  std::vector<Host> hosts;
  std::array<char, kLongestHostLine + 1> read;
  int number = 1;
  for (; in.getline(read.data(), read.size()); ++number) {
    const std::size_t length = static_cast<std::size_t>(in.gcount()) - (in.eof() ? 0 : 1);  // without its end
    const std::string line(read.data(), length);
    std::istringstream words(line.substr(0, line.find('#')));
    if ((words >> std::ws).eof()) continue;
    Host host;
    if (const std::string why = read_line(words, host); !why.empty())
      return fmt::format("{}:{}: {}", file, number, why);
    const auto same = [&host](const Host& other) { return other.name == host.name; };
    if (std::any_of(hosts.begin(), hosts.end(), same)) {
      return fmt::format("{}:{}: host {} is there already; list it once, with more slots", file, number,
                         host.name);
    }
    if (!hosts.empty() && (host.slots == 0) != (hosts.front().slots == 0)) {
      return fmt::format("{}:{}: some hosts have slots= and others do not; give it to all or to none", file,
                         number);
    }
    hosts.push_back(std::move(host));
  }
  if (in.bad()) return fmt::format("{}: reading failed", file);
  if (!in.eof())
    return fmt::format("{}:{}: the line is longer than {} characters; {}", file, number, kLongestHostLine,
                       kForm);
  if (hosts.empty()) return fmt::format("{}: there is no host in it; {}", file, kForm);
  return hosts;
}

std::variant<std::vector<Host>, std::string> read_hosts_file(const std::string& file) {
  struct stat about {};
  if (::stat(file.c_str(), &about) == 0 && S_ISDIR(about.st_mode))
    return fmt::format("{}: it is a folder; name a file of which {}", file, kForm);
  std::ifstream in(file);
  if (!in) return fmt::format("{}: {}", file, std::strerror(errno));
  return read_hosts(in, file);
}

std::variant<std::vector<Share>, std::string> place(const std::vector<Host>& hosts, std::uint32_t ranks,
                                                    std::uint32_t ranks_per_process) {
  const std::uint32_t processes = (ranks + ranks_per_process - 1) / ranks_per_process;
  std::vector<Share> shares;
  std::uint32_t first = 0;
  std::uint64_t slots = 0;
  const auto count = static_cast<std::uint32_t>(hosts.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool even = hosts[i].slots == 0;
    const std::uint32_t left = ranks - std::min(ranks, first * ranks_per_process);
    std::uint32_t here = even                    ? processes / count + (i < processes % count ? 1 : 0)
                         : hosts[i].slots < left ? hosts[i].slots / ranks_per_process
                                                 : processes - first;
    here = std::min(here, processes - first);
    if (here > 0) shares.push_back({hosts[i].name, first, here});
    first += here;
    slots += hosts[i].slots;
  }
  if (first < processes) {
    const std::string each =
        ranks_per_process == 1 ? "" : fmt::format(" ({} for each process)", ranks_per_process);
    return fmt::format(
        "-n asks for more ranks than the {} slots of all hosts have room for{}; add hosts or slots", slots,
        each);
  }
  return shares;
}

}  // namespace aqrun
