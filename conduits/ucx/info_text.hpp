#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::conduits::ucx {

/// The lines that `print` writes: UCX offers some of its information only by printing it.
std::vector<std::string> info_lines(const std::function<void(std::FILE*)>& print);

/// What follows `mark` in a line, without the spaces around it; empty if the mark is not there.
std::string text_after(const std::string& line, std::string_view mark);

}  // namespace aqueduct::conduits::ucx
