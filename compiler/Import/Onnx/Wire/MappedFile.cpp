#include "compiler/Import/Onnx/Wire/MappedFile.h"
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace plim::onnx::wire;

std::optional<MappedFile> MappedFile::open(const std::string &path, std::string &error) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info{};
  if (fd < 0 || fstat(fd, &info) != 0) {
    error = "cannot open '" + path + "': " + std::strerror(errno);
    if (fd >= 0)
      close(fd);
    return std::nullopt;
  }
  if (!S_ISREG(info.st_mode)) {
    error = "cannot read '" + path + "': need a regular file";
    close(fd);
    return std::nullopt;
  }
  MappedFile file;
  file.size = static_cast<size_t>(info.st_size);
  if (file.size) {
    void *map = mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) {
      error = "cannot map '" + path + "': " + std::strerror(errno);
      close(fd);
      return std::nullopt;
    }
    // Weights are jumped over, not read: without this the kernel reads ahead into each of them.
    madvise(map, file.size, MADV_RANDOM);
    file.data = static_cast<const char *>(map);
  }
  close(fd);
  return file;
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : data(std::exchange(other.data, nullptr)), size(std::exchange(other.size, 0)) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(data, other.data);
  std::swap(size, other.size);
  return *this;
}

MappedFile::~MappedFile() {
  if (data)
    munmap(const_cast<char *>(data), size);
}

void MappedFile::drop(std::string_view part) const {
  if (!data || part.data() < data || part.data() + part.size() > data + size)
    return;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  const uintptr_t last = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  if (first < last)
    madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
}
