#include "sim/plot.hpp"

#include "sim/output_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace aqueduct::sim {

namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 520;
constexpr double kLeft = 80;
constexpr double kRight = 230;  // for the names
constexpr double kTop = 50;
constexpr double kBottom = 60;
constexpr std::array kColours{"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e",
                              "#17becf", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22"};

/// Names of files may be any bytes: those that are no UTF-8 are shown as U+FFFD, and control characters, which XML does not
/// have, as blanks.
std::string in_utf8(const std::string& text) {
  using nlohmann::json;
  std::string out =
      json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return out;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : in_utf8(text)) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

/// An axis of powers of `base`.
struct Axis {
  double base;
  int least = 0;
  int most = 1;

  void cover(double from, double to) {
    least = static_cast<int>(std::floor(std::log(from) / std::log(base) + 1e-9));
    most = static_cast<int>(std::ceil(std::log(to) / std::log(base) - 1e-9));
    if (most <= least) most = least + 1;
  }
  /// 0 to 1.
  double at(double value) const { return (std::log(value) / std::log(base) - least) / (most - least); }
};

std::string number(double value) {
  if (value >= 1 << 20 && std::fmod(value, 1 << 20) == 0) return fmt::format("{}M", value / (1 << 20));
  if (value >= 1024 && std::fmod(value, 1024) == 0) return fmt::format("{}K", value / 1024);
  return fmt::format("{:g}", value);
}

}  // namespace

std::string plot_svg(const std::string& title, const std::string& x_axis, const std::string& y_axis,
                     const std::vector<Series>& lines) {
  double x_least = std::numeric_limits<double>::max();
  double x_most = 0;
  double y_least = x_least;
  double y_most = 0;
  for (const Series& line : lines) {
    for (const auto& [x, y] : line.points) {
      if (x <= 0 || y <= 0) continue;
      x_least = std::min(x_least, x);
      x_most = std::max(x_most, x);
      y_least = std::min(y_least, y);
      y_most = std::max(y_most, y);
    }
  }
  Axis across{2};
  Axis up{10};
  if (x_most > 0) {
    across.cover(x_least, x_most);
    up.cover(y_least, y_most);
  }
  const double width = kWidth - kLeft - kRight;
  const double height = kHeight - kTop - kBottom;
  const auto x_of = [&](double value) { return kLeft + across.at(value) * width; };
  const auto y_of = [&](double value) { return kTop + (1 - up.at(value)) * height; };
  std::string out = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" viewBox="0 0 {} {}" font-family="sans-serif" font-size="12">)"
      "\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      R"(<text x="{}" y="28" font-size="16">{}</text>)"
      "\n",
      kWidth, kHeight, kWidth, kHeight, kLeft, escaped(title));
  const int every = (across.most - across.least) / 12 + 1;
  for (int i = across.least; i <= across.most; i += every) {
    const double x = x_of(std::pow(2.0, i));
    out += fmt::format(
        R"(<path d="M{:.1f} {} V{}" stroke="#ddd"/><text x="{:.1f}" y="{}" text-anchor="middle">{}</text>)"
        "\n",
        x, kTop, kHeight - kBottom, x, kHeight - kBottom + 18, number(std::pow(2.0, i)));
  }
  for (int i = up.least; i <= up.most; ++i) {
    const double y = y_of(std::pow(10.0, i));
    out += fmt::format(
        R"(<path d="M{} {:.1f} H{}" stroke="#ddd"/><text x="{}" y="{:.1f}" text-anchor="end">{:g}</text>)"
        "\n",
        kLeft, y, kWidth - kRight, kLeft - 8, y + 4, std::pow(10.0, i));
  }
  out += fmt::format(R"(<text x="{}" y="{}" text-anchor="middle">{}</text>)"
                     "\n"
                     R"svg(<text transform="translate(22 {}) rotate(-90)" text-anchor="middle">{}</text>)svg"
                     "\n",
                     kLeft + width / 2, kHeight - 16, escaped(x_axis), kTop + height / 2, escaped(y_axis));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const char* const colour = kColours[i % kColours.size()];
    std::string way;
    std::string dots;
    for (const auto& [x, y] : lines[i].points) {
      if (x <= 0 || y <= 0) continue;
      way += fmt::format("{}{:.1f} {:.1f}", way.empty() ? "M" : " L", x_of(x), y_of(y));
      dots += fmt::format(
          R"(<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}"><title>{}: {:g}, {:g}</title></circle>)",
          x_of(x), y_of(y), colour, escaped(lines[i].name), x, y);
    }
    if (!way.empty())
      out += fmt::format(R"(<path d="{}" fill="none" stroke="{}" stroke-width="1.5"/>)", way, colour);
    out += dots;
    const double y = kTop + 8 + 18.0 * static_cast<double>(i);
    out +=
        fmt::format(R"(<rect x="{}" y="{}" width="10" height="10" fill="{}"/><text x="{}" y="{}">{}</text>)"
                    "\n",
                    kWidth - kRight + 12, y, colour, kWidth - kRight + 28, y + 10, escaped(lines[i].name));
  }
  return out + "</svg>\n";
}

std::string plot_problem(const std::string& file) {
  if (!file.ends_with(".svg") && !file.ends_with(".html"))
    return fmt::format("a plot is written to a file that ends in .svg or .html, not to {}", file);
  return output_problem("plot", file);
}

std::string write_plots(const std::string& file, const std::string& title,
                        const std::vector<std::string>& pictures) {
  if (const std::string problem = plot_problem(file); !problem.empty()) return problem;
  const bool picture = file.ends_with(".svg");
  if (picture && pictures.size() != 1)
    return fmt::format("{} plots go into a file that ends in .html, not into {}", pictures.size(), file);
  OutputFile out(file);
  out.open();
  if (picture) {
    out.write(pictures.front());
  } else {
    out.write(fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title></head>\n"
        "<body style=\"font-family: sans-serif\">\n<h1>{0}</h1>\n",
        escaped(title)));
    for (const std::string& one : pictures) out.write(one);
    out.write("</body></html>\n");
  }
  const std::string problem = out.finish();
  return problem.empty() ? problem : fmt::format("the plot {} cannot be written: {}", file, problem);
}

}  // namespace aqueduct::sim
