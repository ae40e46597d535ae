/*
 * The part of the host's configuration that every jailed command may read, by one rule: a program
 * reads it where it starts, everybody may read it, it belongs to root, it is no secret, and it names
 * neither a person nor this host. docs/confinement.md shows these tables.
 */
#ifndef BASE_ETC_TABLE_H
#define BASE_ETC_TABLE_H

/* clang-format off */
/* Rows: the programs that read the paths, then the paths. Each may be absent; one that is not root's,
 * or that not everybody may read, is passed over. */
#define ETC_SHOWN(X) \
	X("loaders and linkers", \
		"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", \
		"/etc/ld-musl-x86_64.path", "/etc/ld-musl-x86_64.d", "/etc/ld-musl-aarch64.path") \
	X("links between packages; what asks for the distribution", \
		"/etc/alternatives", "/etc/os-release", "/etc/lsb-release", "/etc/debian_version", \
		"/etc/dpkg/origins") \
	X("time, language, terminals", \
		"/etc/localtime", "/etc/timezone", "/etc/locale.alias", "/etc/terminfo", \
		"/etc/inputrc") \
	X("TLS: public authorities", \
		"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates.conf", \
		"/etc/pki/tls/certs", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust", \
		"/etc/pki/java", "/etc/crypto-policies") \
	X("names of types, services and protocols", \
		"/etc/mime.types", "/etc/mailcap", "/etc/magic", "/etc/magic.mime", \
		"/etc/services", "/etc/protocols", "/etc/rpc", "/etc/ethertypes", \
		"/etc/netconfig", "/etc/gai.conf") \
	X("fontconfig, graphics, printing", \
		"/etc/fonts", "/etc/glvnd", "/etc/vulkan", "/etc/OpenCL", "/etc/gtk-2.0", \
		"/etc/gtk-3.0", "/etc/ImageMagick-6", "/etc/ImageMagick-7", "/etc/ghostscript", \
		"/var/lib/ghostscript", "/etc/papersize", "/etc/libpaper.d") \
	X("TeX, XML, manuals, dictionaries", \
		"/etc/texmf", "/var/lib/texmf", "/etc/xml", "/etc/sgml", "/etc/groff", \
		"/etc/dictionaries-common") \
	X("Python, matplotlib", \
		"/etc/python3", "/etc/python3.9", "/etc/python3.10", "/etc/python3.11", \
		"/etc/python3.12", "/etc/python3.13", "/etc/python3.14", "/etc/matplotlibrc") \
	X("R, Octave", \
		"/etc/R/Makeconf", "/etc/R/Renviron", "/etc/R/javaconf", "/etc/R/ldpaths", \
		"/etc/R/repositories", "/etc/octave.conf") \
	X("Perl, PHP", \
		"/etc/perl", "/etc/php/7.4/cli", "/etc/php/7.4/mods-available", \
		"/etc/php/8.1/cli", "/etc/php/8.1/mods-available", "/etc/php/8.2/cli", \
		"/etc/php/8.2/mods-available", "/etc/php/8.3/cli", "/etc/php/8.3/mods-available", \
		"/etc/php/8.4/cli", "/etc/php/8.4/mods-available") \
	X("Java, Maven", \
		"/etc/java", "/etc/java-8-openjdk", "/etc/java-11-openjdk", \
		"/etc/java-17-openjdk", "/etc/java-21-openjdk", "/etc/java-25-openjdk", \
		"/etc/maven/m2.conf", "/etc/maven/logging") \
	X("Haskell, Pascal, COBOL, .NET, MPI", \
		"/var/lib/ghc", "/etc/fpc.cfg", "/etc/fpc-3.2.2.cfg", "/etc/gnucobol", \
		"/etc/dotnet", "/etc/openmpi") \
	X("Chromium, editors, debuggers, offices", \
		"/etc/chromium.d", "/etc/vim", "/etc/emacs", "/etc/gdb", "/etc/libreoffice")

/* Why programs that would read them do not find them, paths. The operator may grant each. */
#define ETC_WITHHELD(X) \
	X("holds passwords or keys", \
		"/etc/shadow", "/etc/gshadow", "/etc/security/opasswd", "/etc/ssl/private", \
		"/etc/pki/tls/private", "/etc/letsencrypt", "/etc/ssh", "/etc/krb5.keytab", \
		"/etc/sudoers", "/etc/sudoers.d", "/etc/apt/auth.conf", "/etc/apt/auth.conf.d", \
		"/etc/NetworkManager", "/etc/wpa_supplicant", "/etc/wireguard", "/etc/openvpn", \
		"/etc/ppp", "/etc/mysql", "/etc/postgresql", "/etc/docker", "/etc/kubernetes", \
		"/etc/jupyter") \
	X("may hold the password of a registry, a proxy or a database", \
		"/etc/gitconfig", "/etc/npmrc", "/etc/pip.conf", "/etc/gemrc", "/etc/wgetrc", \
		"/etc/curlrc", "/etc/netrc", "/etc/ccache.conf", "/etc/maven/settings.xml", \
		"/etc/odbc.ini", "/etc/php/8.2/fpm", "/etc/php/8.2/apache2", \
		"/etc/R/Renviron.site", "/etc/R/Rprofile.site") \
	X("may export what is meant for people who log in", \
		"/etc/environment", "/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", \
		"/etc/default") \
	X("names people, this host, its disks or its network", \
		"/etc/subuid", "/etc/subgid", "/etc/hostname", "/etc/machine-id", \
		"/etc/mailname", "/etc/fstab", "/etc/crypttab", "/etc/krb5.conf", "/etc/ldap", \
		"/etc/postgresql-common", "/etc/chromium")
/* clang-format on */

/* The paths of either, as a list of strings that ends with a comma. */
#define ETC_PATHS(why, ...) __VA_ARGS__,

#endif
