package main

import (
	"fmt"
	"strings"
)

const head = `# Configuration

<!-- Written by tools/configdoc (make generate) from the structs that the services load. -->

Each setting has four places, and the later one wins: its default, the YAML file
(` + "`--config suite.yaml`" + `), the environment, the flag. The defaults run on one machine without a file.

` + "```yaml" + `
coordinator:
  redis:
    host: redis.internal   # or RSC_REDIS_HOST, or --redis-host
` + "```" + `

- **One file may serve all.** Everything lies below ` + "`coordinator:`" + `; each service takes what is its
  own. [configuration.example.yaml](configuration.example.yaml) has every setting with its default.
- **Nothing is ignored.** A key or an ` + "`RSC_…`" + ` variable that no service knows refuses the start, with the
  nearest one that is known. So does a value that cannot be; every problem is told at once.
- **Secrets have no flag**, as command lines are seen by everybody. With ` + "`_FILE`" + ` behind its name a
  variable holds the path of a file with the secret: ` + "`RSC_REDIS_PASSWORD_FILE=/run/secrets/redis`" + `.
- **Texts of a file may refer to the environment**: ` + "`${NAME}`" + `, or ` + "`${NAME:default}`" + `.
- **Durations have a unit**: ` + "`500ms`, `10s`, `168h`" + `. Lists are YAML lists; as a variable or a flag they
  have commas.
- ` + "`--print-config`" + ` shows what results, secrets masked; ` + "`--help`" + ` lists the settings of one service.

A restart takes changes in. The gateway reads its users again on SIGHUP, and nothing else.
Which streams and groups there are, and how many shards they have, is no configuration: see
[gitops.md](gitops.md). The standalone reads the same settings for all its parts, with defaults for
one machine; ` + "`standalone --help`" + ` tells them. rscctl reads no file; ` + "`rscctl --help`" + ` tells its variables.
`

// page returns the text of docs/configuration.md.
func page(all []setting) string {
	var text strings.Builder
	text.WriteString(head)
	section := "none yet"
	for _, one := range all {
		if one.section() != section {
			section = one.section()
			title := "`" + section + ".*`"
			if section == "" {
				title = "The coordinator's process"
			}
			fmt.Fprintf(&text, "\n## %s\n\n| Setting | Type | Default | Read by | Meaning |\n|---|---|---|---|---|\n", title)
		}
		row(&text, one)
	}
	return text.String()
}

func row(text *strings.Builder, s setting) {
	places := []string{s.Key, s.Variable}
	switch {
	case s.Kind == kindSecret:
		places = append(places, s.Variable+"_FILE")
	case s.Flag != "":
		places = append(places, "--"+s.Flag)
	}
	fmt.Fprintf(text, "| `%s` | %s | %s | %s | %s |\n",
		strings.Join(places, "`<br>`"), cell(s.Kind), s.standard(), strings.Join(s.readers, ", "), cell(s.usage()))
	for _, inner := range s.Elements {
		fmt.Fprintf(text, "| `%s[].%s` | %s | | | %s |\n", s.Key, inner.Key, cell(inner.Kind), cell(inner.Usage))
	}
}

// standard is the default for a table of Markdown.
func (s setting) standard() string {
	values := make([]told, len(s.values))
	for i, one := range s.values {
		values[i] = told{one.by, "empty"}
		if one.text != "" {
			values[i].text = "`" + short(s.Kind, one.text) + "`"
		}
	}
	return joined(values, "<br>")
}

// cell escapes what would end a cell.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
