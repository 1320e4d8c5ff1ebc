package service

// Names of background tasks, as people see them in the status and in the log.
const (
	taskEvents       = "read waiting events"
	taskQueue        = "keep events until they are done"
	taskSession      = "store agent state"
	taskSummary      = "summarize checkpoints"
	taskConversation = "keep conversations"
	taskChecks       = "run checks"
	taskClaims       = "record results that agents report"
	taskDrill        = "restore drill"
	taskMaintenance  = "store maintenance"
	taskCrossCheck   = "compare files with the tracker"
	taskMachine      = "look at the machine"
	taskReadings     = "keep what readers found"
	taskReadAhead    = "read files ahead"
	taskRetention    = "clean up"
	taskBackup       = "backup"
	taskTurns        = "end turns of agents that are gone"
)

// background runs one background step. A panic or an error ends this step alone; it is
// logged, counted and shown by the status.
func (s *Service) background(task string, step func() error) { s.parts.Diag.Run(task, step) }
