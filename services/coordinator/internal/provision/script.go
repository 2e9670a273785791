package provision

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"strings"
)

// The sources of the scripts.
var (
	//go:embed lua/common.lua
	commonLua string
	//go:embed lua/verdict.lua
	verdictLua string
	//go:embed lua/mark.lua
	markLua string
	//go:embed lua/make.lua
	makeLua string
	//go:embed lua/unmake.lua
	unmakeLua string
	//go:embed lua/prove.lua
	proveLua string
	//go:embed lua/seal.lua
	sealLua string
	//go:embed lua/confirm.lua
	confirmLua string
	//go:embed lua/unseal.lua
	unsealLua string
	//go:embed lua/destroy.lua
	destroyLua string
)

// script is a source and the digest by which Redis knows it once it has run.
type script struct {
	sha, source string
}

type scripts struct {
	mark, provide, unmake, prove, seal, confirm, unseal, destroy script
}

func compile() scripts {
	return scripts{
		mark:    join(commonLua, markLua),
		provide: join(commonLua, makeLua),
		unmake:  join(commonLua, unmakeLua),
		prove:   join(commonLua, verdictLua, proveLua),
		seal:    join(commonLua, verdictLua, sealLua),
		confirm: join(commonLua, confirmLua),
		unseal:  join(commonLua, unsealLua),
		destroy: join(commonLua, destroyLua),
	}
}

func join(parts ...string) script {
	source := strings.Join(parts, "")
	sum := sha1.Sum([]byte(source))
	return script{sha: hex.EncodeToString(sum[:]), source: source}
}
