/* Runs a program and counts its system calls, kills it at one of them, or makes one fail.
 *
 *   ptrace OUT count               -- PROGRAM [ARGUMENT...]
 *   ptrace OUT kill N              -- PROGRAM ...   kill all its threads as the N-th call is entered: it does not happen
 *   ptrace OUT fail NAME N ERRNO   -- PROGRAM ...   the N-th call of that name returns ERRNO and does not happen
 *   ptrace OUT fail NAME N+ ERRNO  -- PROGRAM ...   so does every later one
 *
 * Calls count from the exec of PROGRAM on, over all threads, from 1. OUT gets lines: `exit STATUS`, `signal NUMBER`,
 * `total CALLS`, and `NAME CALLS` for the calls known here. Exits with 0 when that was written, with 3 when the system
 * does not let processes be traced, with 2 when called wrongly. Linux on x86_64 and aarch64.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
/* After the above, with which it does not get on otherwise. */
#include <linux/ptrace.h>

enum mode { COUNT, KILL, FAIL };

static struct { const char *name; long number; unsigned long calls; } known[] = {
    { "write", SYS_write, 0 },           { "pwrite64", SYS_pwrite64, 0 },   { "fsync", SYS_fsync, 0 },
    { "fdatasync", SYS_fdatasync, 0 },   { "msync", SYS_msync, 0 },         { "renameat2", SYS_renameat2, 0 },
    { "openat", SYS_openat, 0 },         { "openat2", SYS_openat2, 0 },     { "unlinkat", SYS_unlinkat, 0 },
    { "mkdirat", SYS_mkdirat, 0 },       { "ftruncate", SYS_ftruncate, 0 }, { "fchmod", SYS_fchmod, 0 },
    { "fallocate", SYS_fallocate, 0 },   { "read", SYS_read, 0 },           { "pread64", SYS_pread64, 0 },
    { "mmap", SYS_mmap, 0 },             { "clone3", SYS_clone3, 0 },       { "fcntl", SYS_fcntl, 0 },
#ifdef SYS_renameat
    { "renameat", SYS_renameat, 0 },
#endif
#ifdef SYS_rename
    { "rename", SYS_rename, 0 },
#endif
#ifdef SYS_unlink
    { "unlink", SYS_unlink, 0 },
#endif
#ifdef SYS_mkdir
    { "mkdir", SYS_mkdir, 0 },
#endif
};
enum { KNOWN = sizeof known / sizeof *known };

static void die(const char *what) {
    fprintf(stderr, "ptrace: %s: %s\n", what, strerror(errno));
    exit(errno == EPERM || errno == ENOSYS || errno == EACCES ? 3 : 2);
}

/* Makes the call that a stopped thread enters one that does not exist. */
static void skip_call(pid_t thread) {
#if defined(__x86_64__)
    if (ptrace(PTRACE_POKEUSER, thread, offsetof(struct user, regs.orig_rax), -1L)) die("skipping a call");
#elif defined(__aarch64__)
    int number = -1;
    struct iovec part = { &number, sizeof number };
    if (ptrace(PTRACE_SETREGSET, thread, NT_ARM_SYSTEM_CALL, &part)) die("skipping a call");
#else
#error "tests that trace system calls are written for x86_64 and aarch64"
#endif
}

/* Sets what the call that a stopped thread leaves returns. */
static void set_result(pid_t thread, long result) {
#if defined(__x86_64__)
    if (ptrace(PTRACE_POKEUSER, thread, offsetof(struct user, regs.rax), result)) die("setting a result");
#else
    struct user_regs_struct registers;
    struct iovec part = { &registers, sizeof registers };
    if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &part)) die("reading registers");
    registers.regs[0] = (unsigned long)result;
    if (ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &part)) die("setting a result");
#endif
}

static pid_t start(char **program) {
    pid_t child = fork();
    if (child < 0) die("fork");
    if (child == 0) {
        /* Without its tracer the child must not run at all. */
        if (ptrace(PTRACE_TRACEME, 0, 0, 0)) die("this system does not let processes be traced");
        raise(SIGSTOP);
        execvp(program[0], program);
        fprintf(stderr, "ptrace: cannot run %s: %s\n", program[0], strerror(errno));
        _exit(127);
    }
    int status;
    if (waitpid(child, &status, 0) != child) die("waiting for the program");
    if (WIFEXITED(status)) exit(WEXITSTATUS(status));
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
    if (ptrace(PTRACE_SETOPTIONS, child, 0, options)) die("this system does not let processes be traced");
    if (ptrace(PTRACE_SYSCALL, child, 0, 0)) die("starting the program");
    return child;
}

int main(int count, char **arguments) {
    int split = 1;
    while (split < count && strcmp(arguments[split], "--")) split++;
    enum mode mode = COUNT;
    unsigned long at = 0;
    int and_later = 0, failing = -1, number = 0;
    errno = EINVAL;
    if (split + 1 >= count || split < 3) die("arguments");
    if (split == 4 && !strcmp(arguments[2], "kill")) {
        mode = KILL;
        at = strtoul(arguments[3], NULL, 10);
    } else if (split == 6 && !strcmp(arguments[2], "fail")) {
        char *end;
        mode = FAIL;
        at = strtoul(arguments[4], &end, 10);
        and_later = *end == '+';
        number = atoi(arguments[5]);
        for (int i = 0; i < KNOWN; i++)
            if (!strcmp(known[i].name, arguments[3])) failing = i;
        if (failing < 0) die(arguments[3]);
    } else if (split != 3 || strcmp(arguments[2], "count")) {
        die("arguments");
    }
    pid_t child = start(arguments + split + 1);
    /* Threads whose call was skipped. Only the end of that very call can come next from them. */
    static unsigned char skipped[1 << 22];
    unsigned long total = 0;
    int status, ended = 0, is_running = 0;
    for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0;) {
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread == child) ended = status;
            continue;
        }
        int pass = WSTOPSIG(status);
        if (pass == (SIGTRAP | 0x80)) {
            struct ptrace_syscall_info info;
            pass = 0;
            if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) < 0) {
                if (errno == ESRCH) continue; /* It is being killed. */
                die("this system does not tell about calls");
            }
            if (info.op == PTRACE_SYSCALL_INFO_ENTRY && is_running) {
                if (++total == at && mode == KILL) {
                    kill(child, SIGKILL);
                    continue;
                }
                for (int i = 0; i < KNOWN; i++) {
                    if ((long)info.entry.nr != known[i].number) continue;
                    unsigned long call = ++known[i].calls;
                    if (i == failing && (call == at || (and_later && call > at))) {
                        skip_call(thread);
                        skipped[thread & ((1 << 22) - 1)] = 1;
                    }
                }
            } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && skipped[thread & ((1 << 22) - 1)]) {
                skipped[thread & ((1 << 22) - 1)] = 0;
                set_result(thread, -number);
            }
        } else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
            is_running = 1;
            pass = 0;
        } else if (pass == SIGTRAP || pass == SIGSTOP) {
            pass = 0; /* A new thread, or ours. */
        }
        /* Fails only for a thread that has been killed meanwhile. */
        ptrace(PTRACE_SYSCALL, thread, 0, (long)pass);
    }
    FILE *out = fopen(arguments[1], "w");
    if (!out) die(arguments[1]);
    if (WIFSIGNALED(ended)) fprintf(out, "signal %d\n", WTERMSIG(ended));
    else fprintf(out, "exit %d\n", WEXITSTATUS(ended));
    fprintf(out, "total %lu\n", total);
    for (int i = 0; i < KNOWN; i++) fprintf(out, "%s %lu\n", known[i].name, known[i].calls);
    return fclose(out) ? 2 : 0;
}
