//! A reader of frames that checks what hosts send: lengths and checksums, with nothing of the crate
//! under test.

/// Bytes of an Ethernet header.
pub const ETHERNET_BYTES: usize = 14;

/// The Internet checksum of these parts, put together (RFC 1071): 0 where the parts hold their own
/// checksum. All parts but the last have an even length.
fn checksum(parts: &[&[u8]]) -> u16 {
    let sum: u32 = parts
        .iter()
        .flat_map(|part| part.chunks(2))
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

/// Whether this is a TCP segment of IPv4 or IPv6, whole, with right lengths and checksums; the
/// reason where it is not. The kernel sends no extension header in these tests.
pub fn check_tcp(frame: &[u8]) -> Result<(), String> {
    let (header, packet) = frame.split_at_checked(ETHERNET_BYTES).ok_or("no Ethernet header")?;
    let (pseudo, segment) = match u16::from_be_bytes([header[12], header[13]]) {
        0x0800 => check_ipv4(packet)?,
        0x86dd => check_ipv6(packet)?,
        other => return Err(format!("EtherType {other:#06x}")),
    };
    match checksum(&[&pseudo, segment]) {
        0 => Ok(()),
        wrong => Err(format!("TCP checksum is off by {wrong:#06x}")),
    }
}

/// The pseudo-header (RFC 9293, 3.1) and the segment of an IPv4 packet.
fn check_ipv4(packet: &[u8]) -> Result<(Vec<u8>, &[u8]), String> {
    if packet.len() < 40 || packet[0] != 0x45 || packet[9] != 6 {
        return Err(format!("no TCP in IPv4: {:02x?}", &packet[..packet.len().min(20)]));
    }
    if usize::from(u16::from_be_bytes([packet[2], packet[3]])) != packet.len() {
        return Err("the total length is not that of the frame".into());
    }
    let (header, segment) = packet.split_at(20);
    if checksum(&[header]) != 0 {
        return Err("the checksum of the IPv4 header is wrong".into());
    }
    let mut pseudo = header[12..20].to_vec();
    pseudo.extend([0, 6]);
    pseudo.extend((segment.len() as u16).to_be_bytes());
    Ok((pseudo, segment))
}

/// The pseudo-header (RFC 8200, 8.1) and the segment of an IPv6 packet.
fn check_ipv6(packet: &[u8]) -> Result<(Vec<u8>, &[u8]), String> {
    if packet.len() < 60 || packet[0] >> 4 != 6 || packet[6] != 6 {
        return Err(format!("no TCP in IPv6: {:02x?}", &packet[..packet.len().min(40)]));
    }
    let (header, segment) = packet.split_at(40);
    if usize::from(u16::from_be_bytes([header[4], header[5]])) != segment.len() {
        return Err("the payload length is not that of the frame".into());
    }
    let mut pseudo = header[8..40].to_vec();
    pseudo.extend((segment.len() as u32).to_be_bytes());
    pseudo.extend([0, 0, 0, 6]);
    Ok((pseudo, segment))
}
