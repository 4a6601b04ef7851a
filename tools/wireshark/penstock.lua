-- Shows Penstock's frames in Wireshark: wireshark -X lua_script:tools/wireshark/penstock.lua FILE
-- The format is that of docs/wire.md. Places here count from behind the EtherType, so they are smaller by 14.

local ETHER_TYPE = 0x88b5
local VERSION = 1
local LINK_LOCAL = 0x80
local HEADER_BYTES, LINK_BYTES, HOP_BYTES = 46, 22, 32
local MOST_HOPS = 8

local KINDS = {
  [0x00] = "Data", [0x01] = "Acknowledgement", [0x02] = "NegativeAcknowledgement", [0x03] = "DropNotice",
  [0x04] = "CongestionFeedback", [0x05] = "CongestionNotification", [0x06] = "Grant", [0x07] = "Resend",
  [0x08] = "Busy", [0x09] = "Credit", [0x0a] = "CreditRequest", [0x0b] = "CreditStop",
  [0x0c] = "Trimmed",
  [0x80] = "PauseClass", [0x81] = "ResumeClass", [0x82] = "PauseQueue", [0x83] = "ResumeQueue",
  [0x84] = "PauseFlow", [0x85] = "ResumeFlow", [0x86] = "QueueBitmap", [0x87] = "PauseTime",
  [0x88] = "HopCredit",
}

local penstock = Proto("penstock", "Penstock")
local fields = {
  version = ProtoField.uint8("penstock.version", "Version"),
  kind = ProtoField.uint8("penstock.kind", "Kind", base.HEX, KINDS),
  flags = ProtoField.uint8("penstock.flags", "Flags", base.HEX),
  marked = ProtoField.bool("penstock.flags.marked", "Congestion experienced", 8, nil, 0x01),
  tracked = ProtoField.bool("penstock.flags.tracked", "In BFC's bookkeeping", 8, nil, 0x02),
  incast = ProtoField.bool("penstock.flags.incast", "Incast", 8, nil, 0x04),
  again = ProtoField.bool("penstock.flags.retransmission", "Retransmission", 8, nil, 0x08),
  pair = ProtoField.bool("penstock.flags.opens_pair", "First of a packet pair", 8, nil, 0x10),
  own_credit = ProtoField.bool("penstock.flags.own_credit", "Paid by its queue's account", 8, nil, 0x20),
  encapsulates = ProtoField.bool("penstock.flags.encapsulates", "A kernel's frame follows", 8, nil, 0x40),
  class = ProtoField.uint8("penstock.class", "Class"),
  hops = ProtoField.uint8("penstock.hops", "Entries of telemetry", base.DEC, nil, 0x0f),
  label = ProtoField.uint16("penstock.label", "Queue label", base.HEX),
  tag = ProtoField.uint16("penstock.tag", "Tag"),
  flow = ProtoField.uint32("penstock.flow", "Flow hash", base.HEX),
  source = ProtoField.uint32("penstock.source", "Source host"),
  destination = ProtoField.uint32("penstock.destination", "Destination host"),
  remaining = ProtoField.uint32("penstock.remaining", "Remaining"),
  offset = ProtoField.uint64("penstock.offset", "Offset (B)"),
  sent_at = ProtoField.uint64("penstock.sent_at", "Sent at (ps)"),
  payload = ProtoField.uint16("penstock.payload", "Payload (B)"),
  wire_bytes = ProtoField.uint16("penstock.wire_bytes", "Size on the scenario's wire (B)"),
  content = ProtoField.uint16("penstock.content", "Content (B)"),
  hop = ProtoField.bytes("penstock.hop", "Hop"),
  hop_time = ProtoField.uint64("penstock.hop.time", "Dequeued at (ps)"),
  hop_sent = ProtoField.uint64("penstock.hop.sent", "Sent before (B)"),
  hop_queued = ProtoField.uint64("penstock.hop.queued", "Left in queues (B)"),
  hop_rate = ProtoField.uint64("penstock.hop.rate", "Rate (bit/s)"),
  epoch = ProtoField.uint16("penstock.epoch", "Epoch"),
  account = ProtoField.uint16("penstock.account", "Account"),
  nanoseconds = ProtoField.uint32("penstock.nanoseconds", "Time (ns)"),
  granted = ProtoField.uint64("penstock.granted", "Granted since the start (B)"),
  queues = ProtoField.bytes("penstock.queues", "Paused queues"),
  zeros = ProtoField.bytes("penstock.zeros", "Payload"),
}
penstock.fields = fields

local malformed = ProtoExpert.new(
  "penstock.malformed", "Not a frame of docs/wire.md", expert.group.MALFORMED, expert.severity.ERROR)
penstock.experts = { malformed }

-- What the subject and the value of a frame between neighbours are: a field each, and its length.
local SUBJECTS = {
  [0x80] = fields.class, [0x81] = fields.class, [0x82] = fields.label, [0x83] = fields.label,
  [0x86] = fields.epoch, [0x88] = fields.account,
}
local VALUES = {
  [0x80] = { fields.nanoseconds, 4 }, [0x84] = { fields.flow, 4 }, [0x85] = { fields.flow, 4 },
  [0x86] = { fields.queues, 16 }, [0x87] = { fields.nanoseconds, 4 }, [0x88] = { fields.granted, 8 },
}

local function link_local(buffer, tree)
  local kind = buffer(1, 1):uint()
  local subject, value = SUBJECTS[kind], VALUES[kind]
  if subject then
    tree:add(subject, buffer(2, 2), buffer(2, 2):uint())
  end
  tree:add(fields.wire_bytes, buffer(4, 2))
  if value then
    tree:add(value[1], buffer(6, value[2]))
  end
  return LINK_BYTES
end

local function flags(range, tree)
  local below = tree:add(fields.flags, range)
  for _, name in ipairs({ "marked", "tracked", "incast", "again", "pair", "own_credit", "encapsulates" }) do
    below:add(fields[name], range)
  end
end

local function telemetry(buffer, place, tree)
  local hop = tree:add(fields.hop, buffer(place, HOP_BYTES))
  hop:add(fields.hop_time, buffer(place, 8))
  hop:add(fields.hop_sent, buffer(place + 8, 8))
  hop:add(fields.hop_queued, buffer(place + 16, 8))
  hop:add(fields.hop_rate, buffer(place + 24, 8))
end

local PLAIN = {
  { "label", 4, 2 }, { "tag", 6, 2 }, { "flow", 8, 4 }, { "source", 12, 4 }, { "destination", 16, 4 },
  { "remaining", 20, 4 }, { "offset", 24, 8 }, { "sent_at", 32, 8 }, { "payload", 40, 2 },
  { "wire_bytes", 42, 2 }, { "content", 44, 2 },
}

-- Returns the place of the content, and how much of it was captured; nothing where the frame is cut off. A
-- capture may hold less of a frame than there was (its snap length).
local function end_to_end(buffer, tree)
  flags(buffer(2, 1), tree)
  tree:add(fields.class, buffer(3, 1), bit.rshift(buffer(3, 1):uint(), 4))
  tree:add(fields.hops, buffer(3, 1))
  for _, field in ipairs(PLAIN) do
    tree:add(fields[field[1]], buffer(field[2], field[3]))
  end
  local hops, content = bit.band(buffer(3, 1):uint(), 0x0f), buffer(44, 2):uint()
  local place = HEADER_BYTES + HOP_BYTES * hops
  if hops > MOST_HOPS or place > buffer:len() or place + content > buffer:reported_len() then
    return nil
  end
  for hop = 0, hops - 1 do
    telemetry(buffer, HEADER_BYTES + HOP_BYTES * hop, tree)
  end
  return place, math.min(content, buffer:len() - place)
end

local function follow(buffer, packet, tree, root, place, content)
  local encapsulates = bit.band(buffer(2, 1):uint(), 0x40) ~= 0
  if encapsulates and content >= 2 then
    local rest = buffer(place + 2, content - 2):tvb()
    DissectorTable.get("ethertype"):try(buffer(place, 2):uint(), rest, packet, root)
  elseif content > 0 then
    tree:add(fields.zeros, buffer(place, content))
  end
end

function penstock.dissector(buffer, packet, root)
  packet.cols.protocol = "Penstock"
  local tree = root:add(penstock, buffer())
  local length = buffer:len()
  local kind = length >= 2 and buffer(1, 1):uint() or 0
  local least = kind >= LINK_LOCAL and LINK_BYTES or HEADER_BYTES
  if length < least or buffer(0, 1):uint() ~= VERSION or not KINDS[kind] then
    tree:add_proto_expert_info(malformed)
    return length
  end
  tree:add(fields.version, buffer(0, 1))
  tree:add(fields.kind, buffer(1, 1))
  packet.cols.info = KINDS[kind]
  if kind >= LINK_LOCAL then
    return link_local(buffer, tree)
  end
  local place, content = end_to_end(buffer, tree)
  if not place then
    tree:add_proto_expert_info(malformed)
    return length
  end
  tree:set_len(place)
  follow(buffer, packet, tree, root, place, content)
  return length
end

DissectorTable.get("ethertype"):add(ETHER_TYPE, penstock)
