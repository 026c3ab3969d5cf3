#include "runtime/core/cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace plim::rt {

bool readText(const char *path, char *text, uint64_t bytes) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  uint64_t got = 0;
  while (got + 1 < bytes) {
    const ssize_t n = read(fd, text + got, bytes - 1 - got);
    if (n < 0) {
      close(fd);
      return false;
    }
    if (n == 0)
      break;
    got += static_cast<uint64_t>(n);
  }
  close(fd);
  text[got] = 0;
  return true;
}

bool numberAfter(const char *text, const char *key, uint64_t &out) {
  const uint64_t length = strlen(key);
  for (const char *line = text; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, key, length) != 0)
      continue;
    const char *at = line + length;
    at += strspn(at, " \t:");
    if (at == line + length || *at < '0' || *at > '9')
      continue;
    out = strtoull(at, nullptr, 10);
    return true;
  }
  return false;
}

namespace {

// The lines of a file of any length, each NUL-terminated and without its newline. Longer ones are cut.
class Lines {
public:
  explicit Lines(const char *path) : fd(open(path, O_RDONLY | O_CLOEXEC)) {}
  ~Lines() {
    if (fd >= 0)
      close(fd);
  }
  Lines(const Lines &) = delete;
  Lines &operator=(const Lines &) = delete;

  const char *next() {
    uint64_t length = 0;
    for (char c; (c = get()) != 0;) {
      if (c == '\n') {
        line[length] = 0;
        return line;
      }
      if (length + 1 < sizeof line)
        line[length++] = c;
    }
    line[length] = 0;
    return length ? line : nullptr;
  }

private:
  int fd;
  char line[2 * PATH_MAX], chunk[4096];
  ssize_t at = 0, got = 0;

  // 0 at the end of the file.
  char get() {
    if (at == got) {
      at = 0;
      got = fd >= 0 ? read(fd, chunk, sizeof chunk) : 0;
      if (got <= 0)
        return static_cast<char>(got = 0);
    }
    return chunk[at++];
  }
};

// Copies a field up to a blank. mountinfo writes blanks and backslashes as \ooo.
const char *copyField(const char *from, char *to, uint64_t room) {
  uint64_t n = 0;
  while (*from && *from != ' ' && n + 1 < room) {
    if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] && from[3]) {
      to[n++] = static_cast<char>((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
      from += 4;
    } else {
      to[n++] = *from++;
    }
  }
  to[n] = 0;
  return from;
}

// Is it one of list, words with commas between them, which ends at `end`?
bool hasWord(const char *list, const char *end, const char *word) {
  const uint64_t length = strlen(word);
  for (const char *at = list; at < end;) {
    const char *comma = static_cast<const char *>(memchr(at, ',', static_cast<size_t>(end - at)));
    const char *stop = comma ? comma : end;
    if (static_cast<uint64_t>(stop - at) == length && !memcmp(at, word, length))
      return true;
    at = stop + 1;
  }
  return false;
}

// The process's path in a hierarchy, if the line is about it: "0::/path" for v2, "7:cpu,memory:/path" for v1.
const char *ownPath(const char *line, bool v2) {
  const char *first = strchr(line, ':');
  const char *second = first ? strchr(first + 1, ':') : nullptr;
  if (!second || !(v2 ? second == first + 1 : hasWord(first + 1, second, "memory")))
    return nullptr;
  return second + 1;
}

// Of one mount: "36 25 0:31 /root /mount options ... - type source superoptions".
bool readMount(const char *line, bool v2, char *root, char *mount) {
  const char *at = line;
  for (int field = 0; field < 3; ++field) {
    at = strchr(at, ' ');
    if (!at)
      return false;
    ++at;
  }
  at = copyField(at, root, PATH_MAX);
  if (*at != ' ')
    return false;
  at = copyField(at + 1, mount, PATH_MAX);
  const char *type = strstr(at, " - ");
  if (!type)
    return false;
  type += 3;
  if (v2)
    return !strncmp(type, "cgroup2 ", 8);
  if (strncmp(type, "cgroup ", 7) != 0)
    return false;
  const char *options = strchr(type + 7, ' ');
  return options && hasWord(options + 1, options + strlen(options), "memory");
}

} // namespace

bool CgroupPath::locate(const char *root, bool wantV2) {
  char path[PATH_MAX], own[PATH_MAX] = {}, mountRoot[PATH_MAX], mountPoint[PATH_MAX];
  snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  const char *found = nullptr;
  for (Lines lines(path); const char *line = lines.next();)
    if ((found = ownPath(line, wantV2)) != nullptr) {
      snprintf(own, sizeof own, "%s", found);
      break;
    }
  if (!found)
    return false;
  snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
  for (Lines lines(path); const char *line = lines.next();) {
    if (!readMount(line, wantV2, mountRoot, mountPoint))
      continue;
    // Within a container the mount shows a part of the hierarchy only; a path outside of it shows as the mount itself.
    const uint64_t length = strcmp(mountRoot, "/") ? strlen(mountRoot) : 0;
    const char *rest = own + length;
    if (length && (strncmp(own, mountRoot, length) != 0 || (own[length] && own[length] != '/')))
      rest = "";
    if (!strcmp(rest, "/") || !strncmp(rest, "/..", 3))
      rest = "";
    if (strlen(root) + strlen(mountPoint) + strlen(rest) >= sizeof text)
      return false;
    mount = static_cast<uint64_t>(snprintf(text, sizeof text, "%s%s", root, mountPoint));
    used = mount + static_cast<uint64_t>(snprintf(text + mount, sizeof text - mount, "%s", rest));
    v2 = wantV2;
    return true;
  }
  return false;
}

CgroupPath::CgroupPath(const char *root) {
  if (!locate(root, false))
    locate(root, true);
}

bool CgroupPath::up() {
  if (used <= mount)
    return false;
  while (used > mount && text[used - 1] != '/')
    --used;
  while (used > mount && text[used - 1] == '/')
    --used;
  text[used] = 0;
  return true;
}

} // namespace plim::rt
