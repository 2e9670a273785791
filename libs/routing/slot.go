package routing

import "strings"

// SlotCount is the number of hash slots of a Redis Cluster.
const SlotCount = 16_384

// Slot returns the Redis Cluster slot of a key, 0 … SlotCount-1: CRC16/XMODEM of the
// key's hash tag, the bytes between the first brace and the first closing brace
// after it, or of the whole key where there is no tag or an empty one.
func Slot(key string) int {
	return int(crc16(hashTag(key))) % SlotCount
}

func hashTag(key string) string {
	_, rest, opened := strings.Cut(key, "{")
	tag, _, closed := strings.Cut(rest, "}")
	if !opened || !closed || tag == "" {
		return key
	}
	return tag
}

// crc16 works through four bits at a time: a table of 16 entries fits in a function,
// one of 256 would have to be a package variable.
func crc16(text string) uint16 {
	table := [16]uint16{
		0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
		0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef,
	}
	var crc uint16
	for i := range len(text) {
		crc = crc<<4 ^ table[crc>>12^uint16(text[i]>>4)]
		crc = crc<<4 ^ table[crc>>12^uint16(text[i]&0x0f)]
	}
	return crc
}
