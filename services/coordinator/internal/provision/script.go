package provision

import (
	_ "embed"
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
	//go:embed lua/unseal.lua
	unsealLua string
	//go:embed lua/destroy.lua
	destroyLua string
)

// scripts are the sources put together.
type scripts struct {
	mark, provide, unmake, prove, seal, unseal, destroy string
}

func compile() scripts {
	return scripts{
		mark:    commonLua + markLua,
		provide: commonLua + makeLua,
		unmake:  commonLua + verdictLua + unmakeLua,
		prove:   commonLua + verdictLua + proveLua,
		seal:    commonLua + verdictLua + sealLua,
		unseal:  commonLua + unsealLua,
		destroy: commonLua + destroyLua,
	}
}
