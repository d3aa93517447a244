#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

// Calls aqperf as a user does. The tests do not judge figures, only that there
// are figures and that they are consistent.

namespace aqperf_tests {

struct PerfRun {
  int status = -1;  // exit status; 128 + signal if it was killed
  std::string out;
  std::string err;
};

inline std::string contents(std::FILE* file) {
  std::string text;
  std::rewind(file);
  std::array<char, 4096> block{};
  for (std::size_t got; (got = std::fread(block.data(), 1, block.size(), file)) > 0;)
    text.append(block.data(), got);
  std::fclose(file);
  return text;
}

/// Runs aqperf with these arguments. After a minute it is killed, and the test fails.
inline PerfRun aqperf(const std::string& arguments) {
  std::vector<std::string> words{AQUEDUCT_BIN_DIR "/aqperf"};
  std::istringstream in(arguments);
  for (std::string word; in >> word;) words.push_back(word);
  std::FILE* out = std::tmpfile();
  std::FILE* err = std::tmpfile();
  const pid_t process = fork();
  if (process == 0) {
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    alarm(60);  // survives exec: SIGALRM ends a program that hangs
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv.front(), argv.data());
    _exit(127);
  }
  int status = 0;
  waitpid(process, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(out), contents(err)};
}

inline std::vector<nlohmann::json> rows_of(const PerfRun& outcome) {
  std::vector<nlohmann::json> rows;
  std::istringstream in(outcome.out);
  for (std::string line; std::getline(in, line);) {
    auto row = nlohmann::json::parse(line, nullptr, false);
    EXPECT_TRUE(row.is_object()) << "not an object: " << line;
    if (row.is_object()) rows.push_back(std::move(row));
  }
  return rows;
}

inline void expect_sane(const nlohmann::json& row) {
  SCOPED_TRACE(row.dump());
  for (const char* text : {"bench", "conduit", "unit"})
    ASSERT_TRUE(row.contains(text) && row[text].is_string());
  for (const char* number : {"ranks", "bytes", "median", "p01", "p99", "samples", "mean"}) {
    ASSERT_TRUE(row.contains(number) && row[number].is_number()) << number;
  }
  EXPECT_GT(row["median"], 0);
  EXPECT_LE(row["p01"], row["median"]);
  EXPECT_GE(row["p99"], row["median"]);
  EXPECT_GT(row["samples"], 0);
  EXPECT_FALSE(row["conduit"].get<std::string>().empty());
  if (row.contains("raw")) {
    EXPECT_GT(row["raw"], 0);
    EXPECT_NEAR(row["ratio"], row["median"].get<double>() / row["raw"].get<double>(), 1e-6);
  }
}

}  // namespace aqperf_tests
