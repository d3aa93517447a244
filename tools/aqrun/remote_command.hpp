#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace aqrun {

/// How ssh starts a program elsewhere: its remote shell reads one text. A connection that is dead ends in 45 s.
inline constexpr const char* kSshTemplate =
    "ssh -o BatchMode=yes -o ServerAliveInterval=15 {host} {shell-command}";

/// How a command is run on another host, as --remote says it.
///
/// Words with blanks between. {host} anywhere in a word is the host's name. The word {command} becomes the words
/// of the command, as many as there are; {shell-command} becomes one word, in which a shell finds them again.
class RemoteCommand {
 public:
  /// Or why the template cannot be used.
  static std::variant<RemoteCommand, std::string> parse(std::string_view text);

  /// What to execute here to have `command` executed there.
  std::vector<std::string> words(const std::string& host, const std::vector<std::string>& command) const;

 private:
  std::vector<std::string> words_;
};

/// One text that a shell splits into exactly these words.
std::string quoted_for_shell(const std::vector<std::string>& words);

}  // namespace aqrun
