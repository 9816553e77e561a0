#include "io/formats/recordio/record_frame.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace headrace {
namespace {

constexpr size_t kRecordFrameHead = RecordFrame::kHeadBytes;
constexpr size_t kWord = RecordFrame::kAlignment;
constexpr uint32_t kPartShift = RecordFrame::kPartShift;
constexpr uint32_t kLengthMask = (uint32_t{1} << kPartShift) - 1;

uint32_t WordAt(const void* bytes) {
  uint32_t word;
  std::memcpy(&word, bytes, kWord);
  return word;
}

// The frames of one record, as far as they are in the bytes.
struct Frames {
  size_t count = 0;
  size_t length = 0;  // of the payload so far, with the magic words between frames
  size_t end = 0;     // where the next head is
  bool more = true;   // that head belongs to the same record
  bool whole = true;  // all were followed: `count` is right

  FrameChains::Way From(int64_t offset) const { return {offset + static_cast<int64_t>(end), length, more}; }
};

// Skips the frames of which it is known where they lead.
void Skip(const FrameChains::Way& way, int64_t offset, Frames& frames) {
  frames.length += way.length;
  frames.end = static_cast<size_t>(way.to - offset);
  frames.more = way.more;
  frames.whole = false;
}

absl::Status NotAHead(const uint8_t* bytes, int64_t offset) {
  if (WordAt(bytes) != RecordFrame::kMagic) {
    return DataError("no record begins at byte ", offset, ": the magic word ce d7 23 0a of RecordIO is not there");
  }
  return DataError("the record whose part is at byte ", offset, " lacks the parts before it");
}

absl::Status NotContinued(int64_t offset, size_t end) {
  return DataError("the record at byte ", offset, " is not continued at byte ", offset + static_cast<int64_t>(end),
                   ", where its next part should be");
}

absl::Status CutOff(int64_t offset, const Frames& frames) {
  const size_t end = frames.end + (frames.more ? kRecordFrameHead : 0);
  return DataError("the record at byte ", offset, " is cut off: it reaches to byte ",
                   offset + static_cast<int64_t>(end), ", and the file ends before");
}

absl::Status NotFollowed(int64_t offset, const Frames& frames) {
  return DataError("the record at byte ", offset, " ends at byte ", offset + static_cast<int64_t>(frames.end),
                   ", where neither another record begins nor the file ends: its length (", frames.length,
                   " bytes) or what follows was overwritten");
}

absl::Status TooLong(int64_t offset) {
  return DataError("the record at byte ", offset, " is longer than ", RecordFrame::kLongest, " bytes");
}

absl::StatusOr<Frames> FollowFrames(absl::Span<const uint8_t> bytes, int64_t offset, FrameChains::Walk& walk) {
  Frames frames;
  while (frames.more && frames.end + kRecordFrameHead <= bytes.size()) {
    if (frames.count > 0) {
      const FrameChains::Way* const way = walk.At(offset + static_cast<int64_t>(frames.end), frames.length);
      if (way != nullptr) {
        Skip(*way, offset, frames);
        if (frames.length > RecordFrame::kLongest) return TooLong(offset);
        continue;
      }
    }
    const uint8_t* const head = bytes.data() + frames.end;
    const uint32_t word = WordAt(head + kWord);
    const uint32_t part = word >> kPartShift;
    if (frames.count == 0 && !IsRecordHead(head)) return NotAHead(head, offset);
    const bool continues = part == RecordFrame::kMiddle || part == RecordFrame::kLast;
    if (frames.count > 0 && (WordAt(head) != RecordFrame::kMagic || !continues)) {
      walk.Note(frames.From(offset));
      return NotContinued(offset, frames.end);
    }
    const size_t length = word & kLengthMask;
    const size_t whole_length = frames.length + length + (frames.count > 0 ? kWord : 0);
    if (whole_length > RecordFrame::kLongest) {
      walk.Note(frames.From(offset));
      return TooLong(offset);
    }
    frames.length = whole_length;
    ++frames.count;
    frames.end += kRecordFrameHead + RecordFrame::Padded(length);
    frames.more = part == RecordFrame::kFirst || part == RecordFrame::kMiddle;
  }
  return frames;
}

// Moves the payloads of later frames to that of the first, with a magic word in front of each.
void Join(uint8_t* bytes, size_t count) {
  const uint32_t magic = RecordFrame::kMagic;
  uint8_t* target = bytes + kRecordFrameHead;
  const uint8_t* head = bytes;
  for (size_t i = 0; i < count; ++i) {
    const size_t length = WordAt(head + kWord) & kLengthMask;
    const uint8_t* const payload = head + kRecordFrameHead;
    head = payload + RecordFrame::Padded(length);
    if (i > 0) {
      std::memcpy(target, &magic, kWord);
      target += kWord;
      std::memmove(target, payload, length);
    }
    target += length;
  }
}

// The first magic word at a multiple of 4 bytes from the start, at `from` or after; the size: there is none.
size_t FindMagic(std::string_view payload, size_t from) {
  const __m128i magic = _mm_set1_epi32(static_cast<int>(RecordFrame::kMagic));
  constexpr size_t kAtOnce = sizeof(__m128i);
  for (; from + kAtOnce <= payload.size(); from += kAtOnce) {
    const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(payload.data() + from));
    const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi32(words, magic)));
    if (found != 0) return from + static_cast<size_t>(__builtin_ctz(found));
  }
  for (; from + kWord <= payload.size(); from += kWord) {
    if (WordAt(payload.data() + from) == RecordFrame::kMagic) return from;
  }
  return payload.size();
}

void PutHead(uint32_t part, size_t length, char* target) {
  const uint32_t head[] = {RecordFrame::kMagic, part << kPartShift | static_cast<uint32_t>(length)};
  std::memcpy(target, head, kRecordFrameHead);
}

// The frames of a payload that has a magic word at `magic`.
void AppendParts(std::string_view payload, size_t magic, std::string& frames) {
  uint32_t part = RecordFrame::kFirst;
  size_t begin = 0;
  char head[kRecordFrameHead];
  while (true) {
    const bool last = magic == payload.size();
    const std::string_view piece = payload.substr(begin, magic - begin);
    PutHead(last ? RecordFrame::kLast : part, piece.size(), head);
    frames.append(head, kRecordFrameHead);
    frames += piece;
    if (last) return;
    begin = magic + kWord;
    magic = FindMagic(payload, begin);
    part = RecordFrame::kMiddle;
  }
}

}  // namespace

bool BeginsLikeHead(absl::Span<const uint8_t> bytes) {
  if (bytes.size() >= kRecordFrameHead) return IsRecordHead(bytes.data());
  const uint32_t magic = RecordFrame::kMagic;
  return std::memcmp(bytes.data(), &magic, std::min(bytes.size(), kWord)) == 0;
}

absl::StatusOr<CutRecord> CutRecordAt(absl::Span<uint8_t> bytes, int64_t offset, bool last, FrameChains* chains) {
  FrameChains::Walk walk(chains, offset);
  HEADRACE_ASSIGN_OR_RETURN(const Frames frames, FollowFrames(bytes, offset, walk));
  const size_t known = frames.end + kRecordFrameHead;
  if (frames.more || frames.end > bytes.size()) {
    if (!last) return CutRecord{.end = known};
    walk.Note(frames.From(offset));
    return CutOff(offset, frames);
  }
  const absl::Span<const uint8_t> behind = bytes.subspan(frames.end);
  if (behind.size() < kRecordFrameHead && !last) return CutRecord{.end = known};
  if (!behind.empty() && !BeginsLikeHead(behind)) {
    walk.Note(frames.From(offset));
    return NotFollowed(offset, frames);
  }
  // Sound after all: its frames are counted for Join.
  if (!frames.whole) return CutRecordAt(bytes, offset, last, nullptr);
  if (frames.count > 1) Join(bytes.data(), frames.count);
  return CutRecord{.whole = true, .begin = kRecordFrameHead, .length = frames.length, .end = frames.end};
}

absl::Status CheckRecordReach(absl::Span<const uint8_t> bytes, int64_t offset, const RandomAccessFile& file,
                              FrameChains* chains) {
  FrameChains::Walk walk(chains, offset);
  HEADRACE_ASSIGN_OR_RETURN(const Frames frames, FollowFrames(bytes, offset, walk));
  if (frames.count == 0) return absl::OkStatus();
  const int64_t end = offset + static_cast<int64_t>(frames.end);
  uint8_t buffer[kRecordFrameHead];
  HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file.ReadAt(end, absl::MakeSpan(buffer)));
  HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file.Size());
  const auto wrong = [&](absl::Status status) {
    walk.Note(frames.From(offset));
    return status;
  };
  if (end > size || (frames.more && got < static_cast<int64_t>(kRecordFrameHead))) return wrong(CutOff(offset, frames));
  const absl::Span<const uint8_t> behind = absl::MakeSpan(buffer).first(static_cast<size_t>(got));
  if (!frames.more) {
    return behind.empty() || BeginsLikeHead(behind) ? absl::OkStatus() : wrong(NotFollowed(offset, frames));
  }
  const uint32_t part = WordAt(buffer + kWord) >> kPartShift;
  const bool continues = part == RecordFrame::kMiddle || part == RecordFrame::kLast;
  if (WordAt(buffer) == RecordFrame::kMagic && continues) return absl::OkStatus();
  return wrong(NotContinued(offset, frames.end));
}

size_t FindRecordHead(absl::Span<const uint8_t> bytes, int64_t offset, bool last) {
  size_t at = static_cast<size_t>(-offset & (kWord - 1));
  for (; at + kRecordFrameHead <= bytes.size(); at += kWord) {
    if (IsRecordHead(bytes.data() + at)) return at;
  }
  for (; last && at < bytes.size(); at += kWord) {
    if (BeginsLikeHead(bytes.subspan(at))) return at;
  }
  return bytes.size();
}

absl::Status AppendRecord(absl::Span<const std::string_view> payload, std::string& frames) {
  size_t length = 0;
  for (const std::string_view piece : payload) length += piece.size();
  if (length > RecordFrame::kLongest) {
    return DataError("a record of RecordIO holds at most ", RecordFrame::kLongest, " bytes, and this one has ", length);
  }
  const size_t begin = frames.size();
  frames.reserve(begin + kRecordFrameHead + RecordFrame::Padded(length));
  frames.resize(begin + kRecordFrameHead);
  for (const std::string_view piece : payload) frames += piece;
  const std::string_view joined = std::string_view(frames).substr(begin + kRecordFrameHead);
  const size_t magic = FindMagic(joined, 0);
  if (magic == length) {
    PutHead(RecordFrame::kWhole, length, &frames[begin]);
  } else {
    const std::string copy(joined);
    frames.resize(begin);
    AppendParts(copy, magic, frames);
  }
  frames.append((kWord - (frames.size() - begin) % kWord) % kWord, '\0');
  return absl::OkStatus();
}

}  // namespace headrace
