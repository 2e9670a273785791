package main

import (
	"fmt"
	"strings"
)

const head = `# Licences

<!-- Written by tools/licences (make generate) from the licence files of the modules. -->

What is built into the programs that are shipped, beside Go's own library (BSD). The project itself
is MIT licensed. Every module that the workspace uses, for tests too, has to be under MIT, BSD, ISC,
Apache 2.0 or MPL 2.0: a test fails when one is not.

| Module | Licence |
|---|---|
`

// page returns the text of docs/licences.md.
func page(of []module) string {
	var text strings.Builder
	text.WriteString(head)
	for _, one := range of {
		fmt.Fprintf(&text, "| %s | %s |\n", one.path, strings.Join(one.licences, ", "))
	}
	return text.String()
}
