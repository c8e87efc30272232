/* What the program has freed goes back to the system.
 *
 * glibc raises these two limits by itself, to 32 and 64 MiB, once large blocks are freed; then each arena keeps that much. A
 * server that has built its index would hold it for days. Once they are set, they stay. It is C since Rust can only call
 * `mallopt` by `unsafe`, which this workspace forbids.
 */
#include <malloc.h>

__attribute__((constructor)) static void set_limits(void)
{
    mallopt(M_TRIM_THRESHOLD, 128 * 1024);
    mallopt(M_MMAP_THRESHOLD, 1024 * 1024);
}
