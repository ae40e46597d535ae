#include "broker/parse/address.h"

#include "base/own.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

struct prefix {
	uint8_t bytes[16];
	unsigned bits;
	enum address_class class;
};

/* The first match decides, so the narrow prefixes come before the wide ones around them. */
static const struct prefix ipv4[] = {
	{{100, 100, 100, 200}, 32, ADDRESS_SPECIAL}, /* metadata service within the shared range */
	{{168, 63, 129, 16}, 32, ADDRESS_SPECIAL},   /* metadata service on a public address */
	{{0}, 8, ADDRESS_SPECIAL},
	{{10}, 8, ADDRESS_PRIVATE},
	{{100, 64}, 10, ADDRESS_PRIVATE},
	{{127}, 8, ADDRESS_LOOPBACK},
	{{169, 254}, 16, ADDRESS_SPECIAL},
	{{172, 16}, 12, ADDRESS_PRIVATE},
	{{192, 0, 0}, 24, ADDRESS_SPECIAL},
	{{192, 0, 2}, 24, ADDRESS_SPECIAL},
	{{192, 88, 99}, 24, ADDRESS_SPECIAL},
	{{192, 168}, 16, ADDRESS_PRIVATE},
	{{198, 18}, 15, ADDRESS_PRIVATE},
	{{198, 51, 100}, 24, ADDRESS_SPECIAL},
	{{203, 0, 113}, 24, ADDRESS_SPECIAL},
	{{224}, 3, ADDRESS_SPECIAL}, /* multicast, reserved, broadcast */
	{{0}, 0, ADDRESS_PUBLIC},
};

static const struct prefix ipv6[] = {
	{{[15] = 1}, 128, ADDRESS_LOOPBACK},
	{{0xfd, 0x00, 0x0e, 0xc2}, 32, ADDRESS_SPECIAL}, /* metadata service */
	{{0xfd, 0x20, 0x00, 0xce, [14] = 0x02, [15] = 0x54}, 128,
		ADDRESS_SPECIAL}, /* metadata service */
	{{0xfc}, 7, ADDRESS_PRIVATE},
	{{0x20, 0x01, 0x00}, 23,
		ADDRESS_SPECIAL}, /* Teredo, ORCHID and other protocol assignments */
	{{0x20, 0x01, 0x0d, 0xb8}, 32, ADDRESS_SPECIAL},
	{{0x20, 0x02}, 16, ADDRESS_SPECIAL}, /* 6to4 */
	{{0x3f, 0xff}, 20, ADDRESS_SPECIAL}, {{0x20}, 3, ADDRESS_PUBLIC},
	{{0}, 0, ADDRESS_SPECIAL}, /* v4-mapped, link-local, multicast and all that is unassigned */
};

static const uint8_t nat64[12] = {0x00, 0x64, 0xff, 0x9b};

static bool prefix_matches(const struct prefix *p, const uint8_t *bytes)
{
	unsigned whole = p->bits / 8, rest = p->bits % 8;
	if (memcmp(p->bytes, bytes, whole) != 0)
		return false;
	return rest == 0 || ((p->bytes[whole] ^ bytes[whole]) >> (8 - rest)) == 0;
}

static enum address_class class_of(const struct prefix *table, const uint8_t *bytes)
{
	while (!prefix_matches(table, bytes))
		table++;
	return table->class;
}

enum address_class address_class(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)address;
		return class_of(ipv4, (const uint8_t *)&in->sin_addr);
	}
	if (address->sa_family != AF_INET6)
		return ADDRESS_SPECIAL;
	const uint8_t *bytes =
		((const struct sockaddr_in6 *)(const void *)address)->sin6_addr.s6_addr;
	if (memcmp(bytes, nat64, sizeof(nat64)) == 0)
		return class_of(ipv4, bytes + 12) == ADDRESS_PUBLIC ? ADDRESS_PUBLIC
								    : ADDRESS_SPECIAL;
	return class_of(ipv6, bytes);
}

bool address_allowed(const struct sockaddr *address, enum reach reach)
{
	enum address_class class = address_class(address);
	if (reach == REACH_LOCAL)
		return class == ADDRESS_LOOPBACK;
	return class == ADDRESS_PUBLIC || (reach == REACH_PRIVATE && class == ADDRESS_PRIVATE);
}

void address_text(const struct sockaddr *address, char out[ADDRESS_TEXT_BYTES])
{
	const void *bytes =
		address->sa_family == AF_INET6
			? (const void *)&((const struct sockaddr_in6 *)(const void *)address)
				  ->sin6_addr
			: (const void *)&((const struct sockaddr_in *)(const void *)address)
				  ->sin_addr;
	if (!inet_ntop(address->sa_family, bytes, out, ADDRESS_TEXT_BYTES))
		out[0] = '\0';
}
