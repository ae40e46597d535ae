/*
 * The class of each prefix of the address space. Source: see address.h.
 */
#ifndef BASE_ADDRESS_TABLE_H
#define BASE_ADDRESS_TABLE_H
#include "base/address.h"
#include <stdint.h>

/* An IPv4 address is looked up below NAT64's well-known prefix. */
#define NAT64 0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0

/* The first match decides, so the narrow prefixes come before the wide ones around them. */
static const struct prefix {
	uint8_t bytes[16];
	unsigned bits;
	enum reach reach;
} prefixes[] = {
	{{NAT64, 100, 100, 100, 200}, 128, REACH_NEVER}, /* metadata in the shared range */
	{{NAT64, 168, 63, 129, 16}, 128, REACH_NEVER},   /* metadata on a public address */
	{{NAT64, 0}, 104, REACH_NEVER}, {{NAT64, 10}, 104, REACH_PRIVATE},
	{{NAT64, 100, 64}, 106, REACH_PRIVATE}, {{NAT64, 127}, 104, REACH_LOCAL},
	{{NAT64, 169, 254}, 112, REACH_NEVER}, {{NAT64, 172, 16}, 108, REACH_PRIVATE},
	{{NAT64, 192, 0, 0}, 120, REACH_NEVER}, {{NAT64, 192, 0, 2}, 120, REACH_NEVER},
	{{NAT64, 192, 88, 99}, 120, REACH_NEVER}, {{NAT64, 192, 168}, 112, REACH_PRIVATE},
	{{NAT64, 198, 18}, 111, REACH_PRIVATE}, {{NAT64, 198, 51, 100}, 120, REACH_NEVER},
	{{NAT64, 203, 0, 113}, 120, REACH_NEVER},
	{{NAT64, 224}, 99, REACH_NEVER}, /* multicast, reserved, broadcast */
	{{NAT64}, 96, REACH_PUBLIC}, {{[15] = 1}, 128, REACH_LOCAL},
	{{0xfd, 0x00, 0x0e, 0xc2}, 32, REACH_NEVER},                  /* metadata */
	{{0xfd, 0x20, 0x00, 0xce, [14] = 2, 0x54}, 128, REACH_NEVER}, /* metadata */
	{{0xfc}, 7, REACH_PRIVATE},
	{{0x20, 0x01, 0x00}, 23, REACH_NEVER}, /* Teredo, ORCHID and other assignments */
	{{0x20, 0x01, 0x0d, 0xb8}, 32, REACH_NEVER}, {{0x20, 0x02}, 16, REACH_NEVER}, /* 6to4 */
	{{0x3f, 0xff}, 20, REACH_NEVER}, {{0x20}, 3, REACH_PUBLIC},
	{{0}, 0, REACH_NEVER}, /* v4-mapped, link-local, multicast and all that is unassigned */
};
#endif
