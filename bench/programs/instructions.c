/*
 * Counts the instructions that a process executes in user space, summed over its threads: a plugin of qemu's user-mode
 * emulation (docs/devel/tcg-plugins.rst of QEMU), for machines whose processor counters cannot be read. The count does
 * not depend on other load on the machine.
 *
 *	qemu-x86_64 -plugin instructions.so PROGRAM...      its last line on standard error: instructions MAIN ALL
 *
 * MAIN are those of the thread that begins the program. An instruction with a repeat prefix counts once for each time.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

/* The used part of qemu-plugin.h (interface version 1), which distributions do not install. */
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
int qemu_plugin_version = 1;

static _Atomic uint64_t main_thread, others;

static void executed(unsigned thread, void *instructions)
{
	atomic_fetch_add_explicit(thread == 0 ? &main_thread : &others, (uintptr_t)instructions, memory_order_relaxed);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(block, executed, 0, (void *)qemu_plugin_tb_n_insns(block));
}

static void ended(qemu_plugin_id_t id, void *data)
{
	(void)id, (void)data;
	const unsigned long long first = main_thread, rest = others;
	fprintf(stderr, "instructions %llu %llu\n", first, first + rest);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info, (void)argc, (void)argv;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
