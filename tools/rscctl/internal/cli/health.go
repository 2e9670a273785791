package cli

import (
	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

func (s *session) health() *cobra.Command {
	return &cobra.Command{
		Use: "health", Short: "Show how the coordinator is", Args: cobra.NoArgs,
		Long: `Shows the health of the coordinator that answers, and what is wrong in its own words. The
exit code is 0 when it is UP, and 1 when it is DEGRADED or DOWN or does not answer.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			health, err := s.admin.Health(cmd.Context())
			if err != nil {
				return s.cannot(err, place{}, "read the health")
			}
			err = s.emit(health, func(page *show.Page) {
				page.Fields(
					"status", health.Status, "coordinator", health.CoordinatorID,
					"redis", health.Redis, "loop", health.Loop,
				)
				for _, problem := range health.Problems {
					page.Line("problem: %s", problem)
				}
			})
			if err == nil && health.Status != protocol.HealthUp {
				return ended(exitFailed, "coordinator %s is %s; %s says what to do about it",
					health.CoordinatorID, health.Status, runbook)
			}
			return err
		},
	}
}

// versions is what rscctl version answers.
type versions struct {
	Client      protocol.VersionResponse  `json:"client"`
	Coordinator *protocol.VersionResponse `json:"coordinator"`
}

func (s *session) version() *cobra.Command {
	var clientOnly bool
	cmd := &cobra.Command{
		Use: "version", Short: "Show the builds of rscctl and of the coordinator", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := versions{Client: settings.Build()}
			var err error
			if !clientOnly {
				found.Coordinator, err = s.admin.Version(cmd.Context())
			}
			printErr := s.emit(found, func(page *show.Page) {
				page.Fields("rscctl", describe(&found.Client), "coordinator", describe(found.Coordinator))
			})
			if err != nil {
				return s.cannot(err, place{}, "read the coordinator's version")
			}
			return printErr
		},
	}
	cmd.Flags().BoolVar(&clientOnly, "client", false, "ask no coordinator")
	return cmd
}

func describe(version *protocol.VersionResponse) string {
	if version == nil {
		return show.None
	}
	return version.Version + ", commit " + version.Commit + ", " + version.GoVersion
}
