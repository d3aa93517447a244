#include "conduits/ucx/info_text.hpp"

#include <algorithm>
#include <cstdlib>

namespace aqueduct::conduits::ucx {

std::vector<std::string> info_lines(const std::function<void(std::FILE*)>& print) {
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* const stream = ::open_memstream(&text, &bytes);
  if (stream == nullptr) return {};
  print(stream);
  std::fclose(stream);
  std::vector<std::string> lines;
  const std::string_view all(text, bytes);
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    lines.emplace_back(all.substr(at, end - at));
    at = end + 1;
  }
  std::free(text);
  return lines;
}

std::string text_after(const std::string& line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  if (at == std::string::npos) return {};
  const std::size_t first = line.find_first_not_of(' ', at + mark.size());
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(' ') + 1 - first);
}

}  // namespace aqueduct::conduits::ucx
