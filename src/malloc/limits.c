/* What the program has freed goes back to the system.
 *
 * glibc raises these two limits by itself, to as much as 32 and 64 MiB, once large blocks are freed; each arena may then keep
 * that much. A server that has built its index would hold it for days. Limits that are set here stay as they are. This is C
 * because calling `mallopt` from Rust takes `unsafe`, which this workspace forbids.
 */
#include <malloc.h>

__attribute__((constructor)) static void set_limits(void)
{
    mallopt(M_TRIM_THRESHOLD, 128 * 1024);
    mallopt(M_MMAP_THRESHOLD, 1024 * 1024);
}
