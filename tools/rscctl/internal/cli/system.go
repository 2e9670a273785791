package cli

import (
	"errors"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

const systemHelp = `Shows what runs: the gateway that answers, and the coordinators, the monitor and the console
that its settings name, each with its build and since when it runs. --settings lists the
settings that hold in each, secrets masked: ******** is one that is set.

--coordinator has to name a gateway. The exit code is 1 when a part does not answer.`

// asked is which parts are shown, and how much of them.
type asked struct {
	service  string
	settings bool
}

func (s *session) system() *cobra.Command {
	var want asked
	cmd := &cobra.Command{
		Use: "system", Short: "Show what runs, with which builds and settings", Args: cobra.NoArgs, Long: systemHelp,
		Example: `  rscctl system
  rscctl system --service coordinator --settings
  rscctl system -o json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if want.service != "" && !slices.Contains(services(), want.service) {
				return usage("--service is %q; it is one of %s", want.service, show.Names(services()))
			}
			found, err := s.admin.System(cmd.Context())
			if err != nil {
				return s.cannotSystem(err)
			}
			found.Parts = slices.DeleteFunc(found.Parts, func(part protocol.SystemPart) bool {
				return want.service != "" && part.Service != want.service
			})
			err = s.emit(found, func(page *show.Page) { printSystem(page, found.Parts, want.settings) })
			return errors.Join(err, silent(found.Parts))
		},
	}
	cmd.Flags().StringVar(&want.service, "service", "", "parts of this `service` only: "+show.Names(services()))
	cmd.Flags().BoolVar(&want.settings, "settings", false, "list the settings of each part too")
	_ = cmd.RegisterFlagCompletionFunc("service", cobra.FixedCompletions(services(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func services() []string {
	return []string{protocol.ServiceGateway, protocol.ServiceCoordinator, protocol.ServiceMonitor, protocol.ServiceConsole}
}

// silent is the error of parts that do not answer.
func silent(parts []protocol.SystemPart) error {
	count := 0
	for _, part := range parts {
		if part.Process == nil {
			count++
		}
	}
	if count == 0 {
		return nil
	}
	return ended(exitFailed, "%d of %d parts do not answer; what to look at is said above, and in %s", count, len(parts), runbook)
}

// cannotSystem wraps what failed. Coordinators know of no others.
func (s *session) cannotSystem(err error) error {
	if refused, ok := errors.AsType[*protocol.Error](err); ok && refused.Code == protocol.CodeNotFound {
		return ended(exitFailed, "cannot list the parts of the system: %s knows of no others, or is older;"+
			" name the gateway with --coordinator or $RSC_COORDINATOR", s.coordinator)
	}
	return s.cannot(err, place{}, "list the parts of the system")
}

func printSystem(page *show.Page, parts []protocol.SystemPart, settings bool) {
	var rows [][]string
	for _, part := range parts {
		row := []string{part.Service, show.Optional(part.Address), "DOWN", show.None, show.None, show.None, show.None}
		if process := part.Process; process != nil {
			row = []string{
				part.Service, show.Optional(part.Address), "UP", process.Version.Version, process.Version.Commit,
				show.Time(process.StartedAt), process.Instance,
			}
		}
		rows = append(rows, row)
	}
	page.Table([]string{"SERVICE", "ADDRESS", "STATE", "VERSION", "COMMIT", "SINCE", "INSTANCE"}, rows, "No such parts.")
	for _, part := range parts {
		if part.Process == nil {
			page.Line("problem: %s at %s %s", part.Service, show.Optional(part.Address), orElse(show.Optional(part.Problem), "does not answer"))
		}
	}
	if builds := buildsOf(parts); builds > 1 {
		page.Line("problem: %s different builds run; that is fine while an update is under way", strconv.Itoa(builds))
	}
	if settings {
		printSettings(page, parts)
	}
}

// buildsOf counts the builds that run.
func buildsOf(parts []protocol.SystemPart) int {
	var builds []protocol.VersionResponse
	for _, part := range parts {
		if part.Process != nil && !slices.Contains(builds, part.Process.Version) {
			builds = append(builds, part.Process.Version)
		}
	}
	return len(builds)
}

func printSettings(page *show.Page, parts []protocol.SystemPart) {
	for _, part := range parts {
		if part.Process == nil {
			continue
		}
		page.Blank()
		page.Line("%s %s", part.Service, part.Process.Instance)
		var rows [][]string
		for _, setting := range part.Process.Configuration {
			rows = append(rows, []string{setting.Key, orElse(setting.Value, show.None)})
		}
		page.Table([]string{"SETTING", "VALUE"}, rows, "It tells of no settings.")
	}
}
