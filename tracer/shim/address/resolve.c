#include "resolve.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "../process/config.h"

// System calls are made directly: the C library's functions are cancellation points, and another
// library may replace and count them.

static int open_at(int folder, const char *path, int flags)
{
	return (int)syscall(SYS_openat, folder, path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
}

static void close_file(int file)
{
	if (file >= 0)
		syscall(SYS_close, file);
}

static bool read_at(int file, void *to, size_t size, ElfW(Off) offset)
{
	return syscall(SYS_pread64, file, to, size, offset) == (long)size;
}

// One thread at a time sends a module. Texts are static, since threads may have small stacks.

// open_tables opens the folder of tables, and returns the address of the socket in it.
static __attribute__((noinline)) int open_tables(struct sockaddr_un *socket)
{
	static char path[sizeof(cairn_config.spool) + 16];
	int folder;

	snprintf(path, sizeof(path), "%s/symbols", cairn_config.spool);
	folder = open_at(AT_FDCWD, path, O_PATH | O_DIRECTORY);
	socket->sun_family = AF_UNIX;
	// sun_path has 108 bytes
	if (snprintf(socket->sun_path, sizeof(socket->sun_path), "%s/socket", path) >= (int)sizeof(socket->sun_path))
		snprintf(socket->sun_path, sizeof(socket->sun_path), "/proc/self/fd/%d/socket", folder);
	return folder;
}

static int connect_to(const struct sockaddr_un *socket)
{
	int s = (int)syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (s >= 0 && syscall(SYS_connect, s, socket, sizeof(*socket)) != 0) {
		close_file(s);
		s = -1;
	}
	return s;
}

enum { MAX_LINK = 256 };

// debug_link reads the name of the separate debug file from the section .gnu_debuglink.
static bool debug_link(int binary, char name[MAX_LINK])
{
	static const char section_name[] = ".gnu_debuglink";
	ElfW(Ehdr) file;
	ElfW(Shdr) section;
	static char names[1024];
	const char *at;
	size_t n;

	if (!read_at(binary, &file, sizeof(file), 0) || file.e_shentsize != sizeof(section) || file.e_shstrndx >= file.e_shnum ||
		!read_at(binary, &section, sizeof(section), file.e_shoff + file.e_shstrndx * sizeof(section)))
		return false;
	n = section.sh_size < sizeof(names) ? section.sh_size : sizeof(names);
	if (!read_at(binary, names, n, section.sh_offset) || (at = memmem(names, n, section_name, sizeof(section_name))) == NULL)
		return false;
	for (unsigned i = 0; i < file.e_shnum; i++) {
		if (!read_at(binary, &section, sizeof(section), file.e_shoff + i * sizeof(section)))
			return false;
		if (section.sh_name != (ElfW(Word))(at - names))
			continue;
		n = section.sh_size < MAX_LINK ? section.sh_size : MAX_LINK;
		return read_at(binary, name, n, section.sh_offset) && memchr(name, 0, n) != NULL && strchr(name, '/') == NULL;
	}
	return false;
}

// open_debug_file opens the separate debug file of a binary, in the folders where gdb looks for it.
static int open_debug_file(int binary, const char *path, const char *id)
{
	static const char *const folders[] = {"%.*s%s", "%.*s.debug/%s", "/usr/lib/debug%.*s%s"};
	static char name[4096], link[MAX_LINK];
	const char *slash = strrchr(path, '/');
	int found, folder = slash != NULL ? (int)(slash + 1 - path) : 0;

	snprintf(name, sizeof(name), "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	found = open_at(AT_FDCWD, name, O_RDONLY);
	if (found >= 0 || !debug_link(binary, link))
		return found;
	for (size_t i = 0; found < 0 && i < sizeof(folders) / sizeof(*folders); i++)
		if (snprintf(name, sizeof(name), folders[i], folder, path, link) < (int)sizeof(name))
			found = open_at(AT_FDCWD, name, O_RDONLY);
	return found;
}

// send_files sends the build id, a zero byte and the path, with the descriptors.
static bool send_files(int listener, const char *id, const char *path, const int *files, size_t n)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = {.room = {0}};
	struct iovec text[] = {{(void *)id, strlen(id) + 1}, {(void *)path, strlen(path)}};
	struct msghdr message = {
		.msg_iov = text, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = CMSG_SPACE(n * sizeof(int)),
	};

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(&control.header), files, n * sizeof(int));
	return syscall(SYS_sendmsg, listener, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

static bool offer(const struct sockaddr_un *socket, const char *binary, const char *id)
{
	int listener = -1, files[2] = {open_at(AT_FDCWD, binary, O_RDONLY), -1};
	bool sent = false;

	if (files[0] >= 0) {
		files[1] = open_debug_file(files[0], binary, id);
		// last, since a connection that is silent for long is closed
		listener = connect_to(socket);
		sent = listener >= 0 && send_files(listener, id, binary, files, files[1] >= 0 ? 2 : 1);
	}
	close_file(files[1]);
	close_file(files[0]);
	close_file(listener);
	return sent;
}

bool cairn_resolve(const char *binary, const char *id)
{
	struct sockaddr_un socket;
	char received[160];
	const int saved = errno;
	bool done = true;
	int folder;

	if (!cairn_config.call_sites || strlen(id) < 4)
		return true;
	snprintf(received, sizeof(received), "%s.received", id); // left by the listener
	folder = open_tables(&socket);
	if (folder < 0 || syscall(SYS_faccessat, folder, received, F_OK) != 0)
		done = folder >= 0 && offer(&socket, binary, id);
	close_file(folder);
	errno = saved;
	return done;
}
