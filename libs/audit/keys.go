package audit

// FieldRecord is the field of an entry in a Redis sink that holds the record, as Encode
// makes it.
const FieldRecord = "record"

// Stream returns the key of the stream in which a Redis sink keeps its chain: the records of
// all gateways whose own keys have the prefix.
func Stream(keyPrefix string) string { return keyPrefix + ":gateway:audit" }

// OwnStream returns the key of the stream in which a Redis sink keeps copies of the records
// that are about a group, or with an empty group about a stream as a whole. It lies in a slot
// of its own in a cluster. Names hold neither a slash nor braces (storage).
func OwnStream(keyPrefix, streamPrefix, group string) string {
	return Stream(keyPrefix) + ":{" + streamPrefix + "/" + group + "}"
}
