package service

// Tasks of the background, as people read them in the status and in the log.
const (
	taskEvents       = "read waiting events"
	taskSession      = "store agent state"
	taskSummary      = "summarize checkpoints"
	taskConversation = "keep conversations"
	taskChecks       = "run checks"
	taskDrill        = "restore drill"
	taskMaintenance  = "store maintenance"
	taskCrossCheck   = "compare files with the tracker"
	taskMachine      = "look at the machine"
	taskReadings     = "keep what readers found"
	taskRetention    = "clean up"
	taskBackup       = "backup"
	taskTurns        = "end turns of agents that are gone"
)

// background runs one step that nobody waits for. Its panic and its error end this step alone;
// they are logged, counted, and shown by the status.
func (s *Service) background(task string, step func() error) { s.parts.Diag.Run(task, step) }
