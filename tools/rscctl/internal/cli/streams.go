package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

func (s *session) streams() *cobra.Command {
	return family("streams", "Streams: their shards and their consumer groups",
		"A stream is split into shards, each a Redis stream of its own. All its groups share them.",
		s.streamsList(), s.streamsDescribe(), s.streamsCreate(), s.streamsScale(), s.streamsDelete())
}

func (s *session) streamsList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List all streams", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			streams, err := s.admin.Streams(cmd.Context())
			if err != nil {
				return s.cannot(err, place{}, "list the streams")
			}
			return s.emit(protocol.StreamsResponse{Streams: streams}, func(page *show.Page) {
				var rows [][]string
				for _, stream := range streams {
					rows = append(rows, []string{
						stream.StreamPrefix, strconv.Itoa(stream.ShardCount),
						show.Names(stream.ConsumerGroups), underWay(stream.Groups),
					})
				}
				page.Table([]string{"STREAM", "SHARDS", "GROUPS", "RESHARDING"}, rows,
					"No streams yet. Create one with: rscctl streams create NAME --reason WHY")
			})
		},
	}
}

func (s *session) streamsDescribe() *cobra.Command {
	return &cobra.Command{
		Use: "describe STREAM", Short: "Show one stream with its groups", Args: cobra.ExactArgs(1),
		Example: "  rscctl streams describe orders",
		RunE: func(cmd *cobra.Command, args []string) error {
			stream, err := s.admin.Stream(cmd.Context(), args[0])
			if err != nil {
				return s.cannot(err, place{stream: args[0]}, "describe stream %s", args[0])
			}
			return s.emit(stream, func(page *show.Page) {
				page.Fields(
					"stream", stream.StreamPrefix,
					"shards", strconv.Itoa(stream.ShardCount),
					"shard keys", stream.StreamKeyPattern,
					"metadata version", strconv.FormatInt(stream.MetadataVersion, 10),
					"resharding", underWay(stream.Groups),
				)
				page.Blank()
				printGroups(page, stream.Groups)
			})
		},
	}
}

// underWay tells the active resharding that groups of a stream know of.
func underWay(groups []protocol.GroupResponse) string {
	for _, group := range groups {
		if m := group.ActiveMigration; m != nil {
			return counts(*m) + " " + string(m.State)
		}
	}
	return show.None
}
