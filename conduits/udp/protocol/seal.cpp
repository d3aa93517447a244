#include "conduits/udp/protocol/seal.hpp"

#include <sodium.h>

#include <cstring>
#include <string_view>

namespace aqueduct::conduits::udp {
namespace {

using Nonce = std::array<unsigned char, 12>;

static_assert(std::tuple_size_v<Secret> == 32 && crypto_generichash_KEYBYTES_MAX == 64);
static_assert(sizeof(crypto_aead_aes256gcm_state) == 512);
static_assert(crypto_aead_aes256gcm_ABYTES == Seal::kTrailer &&
              crypto_aead_chacha20poly1305_ietf_ABYTES == Seal::kTrailer);
static_assert(crypto_aead_aes256gcm_NPUBBYTES == std::tuple_size_v<Nonce> &&
              crypto_aead_chacha20poly1305_ietf_NPUBBYTES == std::tuple_size_v<Nonce>);
static_assert(crypto_shorthash_BYTES == sizeof(std::uint64_t));

const unsigned char* in(std::span<const std::byte> bytes) noexcept {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// libsodium needs a valid address even for zero bytes; `instead` supplies it.
std::span<std::byte> somewhere(std::span<std::byte> text, std::byte& instead) noexcept {
  return text.empty() ? std::span<std::byte>(&instead, 0) : text;
}

unsigned char* out(std::byte* bytes) noexcept { return reinterpret_cast<unsigned char*>(bytes); }

// The wire is little-endian on every machine.
template <class Number>
void put_little(unsigned char* to, Number number) noexcept {
  for (std::size_t i = 0; i < sizeof number; ++i) to[i] = static_cast<unsigned char>(number >> (8 * i));
}

Nonce make_nonce(std::uint64_t number, std::uint32_t attempt) noexcept {
  Nonce nonce;
  put_little(nonce.data(), number);
  put_little(nonce.data() + sizeof number, attempt);
  return nonce;
}

// What a key is derived from. All fields go into the hash, so no two purposes, directions or jobs share a key.
struct Context {
  std::uint32_t from, to;
  std::uint64_t job;
  Cipher cipher;
};

void derive(std::span<unsigned char> key, const std::array<unsigned char, 64>& secrets,
            const Context& context, std::string_view purpose) noexcept {
  std::array<unsigned char, 17> facts;
  put_little(facts.data(), context.from);
  put_little(facts.data() + 4, context.to);
  put_little(facts.data() + 8, context.job);
  facts[16] = static_cast<unsigned char>(context.cipher);
  crypto_generichash_state state;
  crypto_generichash_init(&state, secrets.data(), secrets.size(), key.size());
  crypto_generichash_update(&state, facts.data(), facts.size());
  crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(purpose.data()), purpose.size());
  crypto_generichash_final(&state, key.data(), key.size());
  sodium_memzero(&state, sizeof state);
}

}  // namespace

// sodium_init may be called repeatedly and by several threads; only the first call does anything.
bool make_secret(Secret& into) noexcept {
  if (sodium_init() < 0) return false;
  randombytes_buf(into.data(), into.size());
  return true;
}

Cipher best_cipher() noexcept {
  const bool aes = sodium_init() >= 0 && crypto_aead_aes256gcm_is_available() != 0;
  return aes ? Cipher::aes256_gcm : Cipher::chacha20_poly1305;
}

const char* name_of(Cipher cipher) noexcept {
  return cipher == Cipher::aes256_gcm ? "AES-256-GCM" : "ChaCha20-Poly1305";
}

const char* cipher_name() noexcept { return name_of(best_cipher()); }

Seal::Seal(Security security, const Secret& from_secret, const Secret& to_secret, std::uint32_t from,
           std::uint32_t to, std::uint64_t job, Cipher cipher) noexcept
    : security_(security), cipher_(cipher) {
  if (security == Security::none) return;
  std::array<unsigned char, 64> secrets;
  std::memcpy(secrets.data(), from_secret.data(), 32);
  std::memcpy(secrets.data() + 32, to_secret.data(), 32);
  const Context context{from, to, job, cipher};
  derive(tag_key_, secrets, context, "aqueduct udp 1 tag");
  derive(data_key_, secrets, context, "aqueduct udp 1 data");
  sodium_memzero(secrets.data(), secrets.size());
  if (cipher == Cipher::aes256_gcm) {
    auto* const state = reinterpret_cast<crypto_aead_aes256gcm_state*>(aes_state_.data());
    crypto_aead_aes256gcm_beforenm(state, data_key_.data());
  }
}

Seal::~Seal() {
  sodium_memzero(tag_key_.data(), tag_key_.size());
  sodium_memzero(data_key_.data(), data_key_.size());
  sodium_memzero(aes_state_.data(), aes_state_.size());
}

std::uint64_t Seal::tag(std::span<const std::byte> bytes) const noexcept {
  if (security_ == Security::none) return 0;
  std::array<unsigned char, crypto_shorthash_BYTES> hash;
  crypto_shorthash(hash.data(), in(bytes), bytes.size(), tag_key_.data());
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < hash.size(); ++i) number |= std::uint64_t{hash[i]} << (8 * i);
  return number;
}

void Seal::encrypt(std::span<const std::byte> known, std::span<std::byte> text, std::byte* trailer,
                   std::uint64_t number, std::uint32_t attempt) const noexcept {
  std::byte nothing{};
  text = somewhere(text, nothing);
  const Nonce nonce = make_nonce(number, attempt);
  if (cipher_ == Cipher::aes256_gcm) {
    const auto* const state = reinterpret_cast<const crypto_aead_aes256gcm_state*>(aes_state_.data());
    crypto_aead_aes256gcm_encrypt_detached_afternm(out(text.data()), out(trailer), nullptr, in(text),
                                                   text.size(), in(known), known.size(), nullptr,
                                                   nonce.data(), state);
    return;
  }
  crypto_aead_chacha20poly1305_ietf_encrypt_detached(out(text.data()), out(trailer), nullptr, in(text),
                                                     text.size(), in(known), known.size(), nullptr,
                                                     nonce.data(), data_key_.data());
}

bool Seal::decrypt(std::span<const std::byte> known, std::span<std::byte> text, const std::byte* trailer,
                   std::uint64_t number, std::uint32_t attempt) const noexcept {
  std::byte nothing{};
  text = somewhere(text, nothing);
  const Nonce nonce = make_nonce(number, attempt);
  const auto* const mark = reinterpret_cast<const unsigned char*>(trailer);
  if (cipher_ == Cipher::aes256_gcm) {
    const auto* const state = reinterpret_cast<const crypto_aead_aes256gcm_state*>(aes_state_.data());
    return crypto_aead_aes256gcm_decrypt_detached_afternm(out(text.data()), nullptr, in(text), text.size(),
                                                          mark, in(known), known.size(), nonce.data(),
                                                          state) == 0;
  }
  return crypto_aead_chacha20poly1305_ietf_decrypt_detached(out(text.data()), nullptr, in(text), text.size(),
                                                            mark, in(known), known.size(), nonce.data(),
                                                            data_key_.data()) == 0;
}

}  // namespace aqueduct::conduits::udp
