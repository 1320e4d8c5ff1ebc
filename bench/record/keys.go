package record

// Key names a row or a curve, so that a later run can be laid beside this one.
type Key string

// Names under which samples stand.
const (
	Retake  = "retake"  // in the daemon, tracked: the round trip of one call
	Process = "process" // retake save, the whole process, the daemon is up
	Scan    = "scan"    // in the daemon, with the tracker turned off
	Solo    = "solo"    // retake --solo save, the whole process
	Engine  = "engine"  // the engine bare
	Git     = "git"
	Kopia   = "kopia"
	Restic  = "restic"
	Btrfs   = "btrfs"
	Copy    = "cp"    // cp -a, every byte
	Clone   = "clone" // cp -a, blocks shared
	Cat     = "cat"
	Bare    = "bare" // a Go program that only ends
)

// Rows.
const (
	Shared      Key = "save.shared"
	Random      Key = "save.random"
	SharedStore Key = "save.shared.store"
	RandomStore Key = "save.random.store"
	SaveMemory  Key = "save.memory"
	Syncs       Key = "syncs"
	SyncsStore  Key = "syncs.store"
	SyncsTree   Key = "syncs.workspace"
	SyncsWait   Key = "syncs.wait"

	Same       Key = "same"
	SameKept   Key = "same.recorded"
	StatusLine Key = "status.line"
	StartOnly  Key = "start"

	SmallFirst  Key = "small.first"
	BigFirst    Key = "big.first"
	SmallShared Key = "small.shared"
	BigShared   Key = "big.shared"
	SmallRandom Key = "small.random"
	BigRandom   Key = "big.random"
	SmallWake   Key = "small.wake"
	BigWake     Key = "big.wake"
	BigMemory   Key = "big.memory"
	BigPeak     Key = "big.peak"
	BigLater    Key = "big.memory.later"
	BigIdle     Key = "big.idle"

	First       Key = "first"
	FirstMemory Key = "first.memory"
	FirstStore  Key = "first.store"

	LineEarly  Key = "line.early"
	LineLate   Key = "line.late"
	LineGrowth Key = "line.growth"
	LineFreed  Key = "line.freed"
	LineSweep  Key = "line.sweep"
	LineLog    Key = "line.log"

	TaxOn      Key = "tax.on"
	TaxOff     Key = "tax.off"
	ReadEvents Key = "read.events"
	ReadKept   Key = "read.recorded"
	ReadRounds Key = "read.rounds"

	BackShared       Key = "back.shared"
	BackSharedApply  Key = "back.shared.apply"
	LooseShared      Key = "back.shared.loose"
	LooseSharedApply Key = "back.shared.loose.apply"
	BackRandom       Key = "back.random"
	BackRandomApply  Key = "back.random.apply"
	LooseRandom      Key = "back.random.loose"
	LooseRandomApply Key = "back.random.loose.apply"
	BackMemory       Key = "back.memory"
	BackTouched      Key = "back.touched"
	BackSyncs        Key = "back.syncs"
	BackSyncsStore   Key = "back.syncs.store"
	BackSyncsTree    Key = "back.syncs.workspace"
	BackSyncsWait    Key = "back.syncs.wait"

	Fork        Key = "fork"
	ForkSynced  Key = "fork.synced"
	ForkRoom    Key = "fork.room"
	ForkCloned  Key = "fork.cloned"
	ForkCopied  Key = "fork.copied"
	ForkSave    Key = "fork.save"
	ForkPlain   Key = "fork.plain"
	PlainSynced Key = "fork.plain.synced"
	PlainRoom   Key = "fork.plain.room"
	PlainCloned Key = "fork.plain.cloned"
	PlainCopied Key = "fork.plain.copied"
	PlainSave   Key = "fork.plain.save"
	StatusFirst Key = "fork.status.first"
	StatusFork  Key = "fork.status"
	StatusHome  Key = "fork.status.origin"
	ReadFork    Key = "fork.read"
	ReadHome    Key = "fork.read.origin"

	HookSame    Key = "hook.same"
	HookShared  Key = "hook.shared"
	HookRandom  Key = "hook.random"
	HookEnd     Key = "hook.end"
	HookForeign Key = "hook.foreign"
	HookStart   Key = "hook.start"

	StoryShared      Key = "story.shared"
	StoryRandom      Key = "story.random"
	StoryRested      Key = "story.rested"
	StoryCall        Key = "story.call"
	StoryAgain       Key = "story.again"
	StoryInstall     Key = "story.install"
	StoryInstallSave Key = "story.install.save"
	StoryIdle        Key = "story.idle"
	StoryBusy        Key = "story.busy"
	StoryScreen      Key = "story.screen"

	Flat       Key = "flat"
	LargeFirst Key = "large.first"
	Large      Key = "large"
	LargeStore Key = "large.store"
)

// Curves over the checkpoints of one line.
const (
	LineSave   Key = "line.save"
	LineTail   Key = "line.save.p95"
	LineStore  Key = "line.store"
	LineFiles  Key = "line.files"
	LineOpen   Key = "line.open"
	LineMemory Key = "line.memory"
	LinePaid   Key = "line.payload"
)
