// Writes the corpora of bootstrap_wire, pmi1_wire and aqrun_frames: messages of each kind.
//   build/fuzz/bin/wires_corpus fuzz/corpus
#include "bootstrap/pmi1_wire.hpp"
#include "bootstrap/wire.hpp"
#include "tools/aqrun/agent_setup.hpp"
#include "tools/aqrun/frame.hpp"

#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace aqueduct::bootstrap;

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string text_of_frame(const wire::Message& message) {
  const wire::Blob frame = wire::encode(message);
  return {reinterpret_cast<const char*>(frame.data()), frame.size()};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::string folder = arguments[1];
  const auto blob = [](std::size_t bytes) { return wire::Blob(bytes, std::byte{7}); };
  const std::vector<wire::Message> messages{wire::Hello{wire::kProtocol, 100, 3},
                                            wire::Exchange{0, blob(20)},
                                            wire::ExchangeResult{0, {blob(0), blob(3), blob(9)}},
                                            wire::Lost{2},
                                            wire::Leave{},
                                            wire::Abort{3, "why"},
                                            wire::Refused{aqueduct::ErrorCode::timed_out, "too late"},
                                            wire::Exit{2, 7}};
  std::string all(1, '\x05');
  for (std::size_t i = 0; i < messages.size(); ++i) {
    write(folder + "/bootstrap_wire/one_" + std::to_string(i), '\xff' + text_of_frame(messages[i]));
    all += text_of_frame(messages[i]);
  }
  write(folder + "/bootstrap_wire/all", all);

  const std::vector<std::string> lines{
      "cmd=get_result rc=0 msg=success value=" + pmi1::to_letters(blob(20)) + "\n",
      "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
      "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n",
      "cmd=get_result rc=0 value=(vector,(0,2,4),(2,1,3))\n", "cmd=barrier_out rc=0\n"};
  all.clear();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    write(folder + "/pmi1_wire/one_" + std::to_string(i), lines[i]);
    all += lines[i];
  }
  write(folder + "/pmi1_wire/all", all);
  write(folder + "/pmi1_wire/mapping", "(vector,(0,2,4),(2,1,3))");

  using aqrun::Frame;
  using aqrun::Kind;
  const std::vector<Frame> frames{aqrun::hello_of_this_version(),
                                  {Kind::folder, 0, 0, "/tmp"},
                                  {Kind::argument, 0, 0, "program"},
                                  {Kind::variable, 0, 0, "NAME=value"},
                                  {Kind::binding, 0, 0, "core"},
                                  {Kind::process, 2, 1, "fd:5,process:2,processes:8,job:123"},
                                  {Kind::process, 3, 1, "fd:5,process:3,processes:8,job:123"},
                                  {Kind::start, 0, 1, ""},
                                  {Kind::output, 2, 0, "text\n"},
                                  {Kind::took, 14, 65536, ""},
                                  {Kind::cleared, 0, 0, ""}};
  all = "\x05";
  for (std::size_t i = 0; i < frames.size(); ++i) {
    write(folder + "/aqrun_frames/one_" + std::to_string(i), '\xff' + aqrun::encode(frames[i]));
    all += aqrun::encode(frames[i]);
  }
  write(folder + "/aqrun_frames/all", all);
  return 0;
}
