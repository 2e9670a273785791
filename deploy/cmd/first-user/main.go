// Command first-user writes the first user of a gateway; see package firstuser.
package main

import (
	"os"

	"github.com/redis-stream-coordinator/rsc/deploy/firstuser"
	"github.com/redis-stream-coordinator/rsc/libs/process"
)

func main() { process.Main(os.Environ(), firstuser.Command) }
