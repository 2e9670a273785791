package route

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Names of the parameters of patterns.
const (
	streamParameter     = "streamPrefix"
	groupParameter      = "consumerGroup"
	memberParameter     = "memberId"
	reshardingParameter = "reshardingId"
	shardParameter      = "shardIndex"
	tailParameter       = "*"
)

const (
	// maxReshardingID is how long the id of a resharding may be, in bytes.
	maxReshardingID = 64
	// maxShardIndex bounds shard indexes; storage allows far fewer shards.
	maxShardIndex = 1 << 20
	// maxTail is how long a segment of a file's path may be, in bytes.
	maxTail = 200
	// maxQuery is how long a query may be when it is written anew, in bytes, so that no
	// service refuses its head.
	maxQuery = 8 << 10
)

const alphanumerics = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// takeNames checks what the path says and keeps the names.
func (t *Table) takeNames(r *Route, given parameters) error {
	for _, parameter := range given {
		var err error
		switch text := parameter.text; parameter.name {
		case streamParameter:
			r.Stream, err = text, refuse(protocol.CheckStreamPrefix(text, t.keyPrefix))
		case groupParameter:
			r.Group, err = text, refuse(protocol.CheckConsumerGroup(text))
		case memberParameter:
			r.Member, err = text, refuse(protocol.CheckMemberID(text))
		case reshardingParameter:
			r.Resharding, err = text, checkReshardingID(text)
		case shardParameter:
			err = checkShardIndex(text)
		case tailParameter:
			err = checkTail(text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeQueryNames keeps the names of the query. An empty one is none: rights then are those
// for all streams.
func (t *Table) takeQueryNames(r *Route, values url.Values) error {
	for name, given := range values {
		for _, known := range []string{streamParameter, groupParameter} {
			if strings.EqualFold(name, known) && (name != known || len(given) > 1) {
				return invalid("%s is written so and may be given once", known)
			}
		}
	}
	if stream := values.Get(streamParameter); stream != "" {
		if err := protocol.CheckStreamPrefix(stream, t.keyPrefix); err != nil {
			return refuse(err)
		}
		r.Stream = stream
	}
	if group := values.Get(groupParameter); group != "" {
		if err := protocol.CheckConsumerGroup(group); err != nil {
			return refuse(err)
		}
		r.Group = group
	}
	return nil
}

// checkReshardingID answers for an id that none can have as for any other unknown one.
func checkReshardingID(id string) error {
	if len(id) > maxReshardingID || strings.Trim(id, alphanumerics+"-") != "" {
		return protocol.Errorf(protocol.CodeMigrationNotFound, "there is no resharding %q", protocol.Echo(id))
	}
	return nil
}

// checkShardIndex takes a number in the one way to write it.
func checkShardIndex(text string) error {
	index, err := strconv.Atoi(text)
	if err != nil || index < 0 || index > maxShardIndex || strconv.Itoa(index) != text {
		return invalid("shardIndex %q is not a number from 0 to %d", protocol.Echo(text), maxShardIndex)
	}
	return nil
}

// checkTail takes what names of files and pages are made of.
func checkTail(segment string) error {
	if len(segment) > maxTail || strings.Trim(segment, alphanumerics+"._:@+-~=,") != "" {
		return invalid("path has a segment that is not allowed: %q", protocol.Echo(segment))
	}
	return nil
}

// refuse turns a failed check of a name into a refusal with its text.
func refuse(err error) error {
	if err == nil {
		return nil
	}
	return invalid("%s", err.Error())
}
