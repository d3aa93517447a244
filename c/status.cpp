#include "c/convert.hpp"

using namespace aqueduct;

size_t aq_status_text(aq_status status, char* text, size_t bytes) {
  const auto known = errors();
  const auto code = static_cast<ErrorCode>(status.code);
  const bool is_known = std::any_of(known.begin(), known.end(), [&](const ErrorInfo& info) {
    return static_cast<std::int32_t>(info.code) == status.code;
  });
  try {
    return c::copy_text(Status(is_known ? code : ErrorCode::internal, status.peer).text(), text, bytes);
  } catch (...) {
    return c::copy_text(is_known ? describe(code).name : "unknown error", text, bytes);
  }
}

uint32_t aq_library_version(void) { return library_version(); }
const char* aq_library_version_text(void) { return library_version_text(); }
