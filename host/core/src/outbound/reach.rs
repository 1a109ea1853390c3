//! The addresses that requests may go to: a table of IANA's special-purpose registries. An address that is not known
//! to be public counts as not public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Host;

/// The reach of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Public,
    /// This machine and private networks: for hosts that are granted as private.
    Private,
    /// Addresses that no grant allows: those that are not hosts, other machines of the same link, and the services of
    /// clouds that give a machine its credentials.
    Never,
}

/// The addresses outside of the link-local networks at which clouds give a machine its credentials.
const METADATA_V4: [Ipv4Addr; 3] = [
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
];
const METADATA_V6: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

/// Checks all addresses that a host was found to have: an honest host has none that is forbidden. `private` says whether
/// the host is granted as private. The error continues the sentence "a request is refused because ...".
pub fn check_addresses(host: &Host, private: bool, addresses: &[IpAddr]) -> Result<(), String> {
    for &address in addresses {
        match reach(address) {
            Reach::Public => {}
            Reach::Private if private => {}
            Reach::Private => {
                return Err(format!(
                    "{host} has an address that is not public; a grant of it must begin with `private:`"
                ));
            }
            Reach::Never => {
                return Err(format!("{host} has an address to which no request is ever sent"));
            }
        }
    }
    Ok(())
}

fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => reach_v6(address),
    }
}

fn reach_v4(address: Ipv4Addr) -> Reach {
    if METADATA_V4.contains(&address) {
        return Reach::Never;
    }
    match address.octets() {
        // This host, link-local, protocol assignments, documentation, 6to4 relays, multicast, reserved.
        [0, ..]
        | [169, 254, ..]
        | [192, 0, 0, _]
        | [192, 0, 2, _]
        | [192, 88, 99, _]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [224..=255, ..] => Reach::Never,
        // Loopback, private networks, shared by carriers, benchmarks.
        [10 | 127, ..]
        | [100, 64..=127, ..]
        | [172, 16..=31, ..]
        | [192, 168, ..]
        | [198, 18..=19, ..] => Reach::Private,
        _ => Reach::Public,
    }
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    if METADATA_V6.contains(&address) {
        return Reach::Never;
    }
    let inside = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        reach_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => Reach::Private,
        // An IPv4 address: as it is, or behind the translator that everybody knows.
        [0, 0, 0, 0, 0, 0xffff, high, low] => inside(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => match inside(high, low) {
            Reach::Public => Reach::Public,
            Reach::Private | Reach::Never => Reach::Never,
        },
        // Unique local.
        [0xfc00..=0xfdff, ..] => Reach::Private,
        // Protocol assignments and Teredo, documentation, 6to4.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x2002, ..] | [0x3fff, ..] => Reach::Never,
        [0x2000..=0x3fff, ..] => Reach::Public,
        _ => Reach::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: Reach, addresses: &[&str]) {
        for text in addresses {
            let address = text.parse().expect("an address");
            assert_eq!(reach(address), expected, "{text}");
        }
    }

    #[test]
    fn public_addresses_are_public() {
        check(
            Reach::Public,
            &[
                "1.1.1.1",
                "8.8.8.8",
                "100.63.0.1",
                "172.32.0.1",
                "2606:4700::1111",
                "::ffff:8.8.8.8",
            ],
        );
        check(Reach::Public, &["64:ff9b::8.8.8.8", "2a00:1450::1", "223.255.255.254"]);
    }

    #[test]
    fn private_addresses_in_every_spelling() {
        check(Reach::Private, &["127.0.0.1", "127.255.255.254", "10.0.0.1", "192.168.1.1"]);
        check(Reach::Private, &["172.16.0.1", "172.31.255.255", "100.64.0.1", "198.19.0.1"]);
        check(
            Reach::Private,
            &["::1", "fc00::1", "fdff::1", "::ffff:127.0.0.1", "::ffff:10.1.2.3"],
        );
    }

    #[test]
    fn nobody_grants_these() {
        check(
            Reach::Never,
            &["0.0.0.0", "0.1.2.3", "169.254.169.254", "169.254.170.2", "224.0.0.1"],
        );
        check(Reach::Never, &["255.255.255.255", "240.0.0.1", "192.0.2.1", "100.100.100.200"]);
        check(Reach::Never, &["168.63.129.16", "192.0.0.192", "198.51.100.7", "203.0.113.7"]);
        check(
            Reach::Never,
            &["::", "::2", "::127.0.0.1", "::ffff:169.254.169.254", "::ffff:0.0.0.0"],
        );
        check(Reach::Never, &["fe80::1", "fec0::1", "ff02::1", "fd00:ec2::254", "fd20:ce::254"]);
        check(Reach::Never, &["64:ff9b::10.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b:1::10.0.0.1"]);
        check(Reach::Never, &["2002:7f00:1::1", "2001::1", "2001:db8::1", "3fff::1", "100::1"]);
        check(Reach::Never, &["5f00::1", "4000::1", "::ffff:0:127.0.0.1"]);
    }
}
