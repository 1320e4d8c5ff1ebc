package install

import (
	"bytes"
	"path/filepath"
	"strings"
)

// dockerDriver is the driver of Docker Agent. It reads a directory of hook files for all
// agents of the user, so ours is a file of its own. Hooks of one agent are in that agent's
// document, which belongs to the user: it is never changed, only the lines are shown.
type dockerDriver struct{ extensionDriver }

var dockerHooksDriver = dockerDriver{extensionDriver{
	file: dockerFile, source: "docker-agent.yaml", hookCount: 9, withProgram: dockerCommand,
	notes: []string{
		noteNextSession + ", with Docker Agent 1.98 or newer; for an older one, and for /undo and /snapshots: retake agents install docker-agent --project --plan",
	},
}}

// dockerConfig returns the directory of Docker Agent's user configuration.
func dockerConfig(p Places) string {
	for _, key := range []string{"DOCKER_AGENT_CONFIG_DIR", "CAGENT_CONFIG_DIR"} {
		if dir := p.absEnv(key); dir != "" {
			return dir
		}
	}
	return filepath.Join(p.Home, ".config", "cagent")
}

func dockerFile(at agentSite) (settingsFile, error) {
	return at.locateFile(filepath.Dir(dockerConfig(at.Places)), filepath.Base(dockerConfig(at.Places)), "hooks.d", "retake.yaml")
}

func dockerCommand(whole []byte, program string) []byte {
	word := quoteJSON(shellQuote(program))
	return bytes.ReplaceAll(whole, []byte(`"retake hook`), []byte(word[:len(word)-1]+` hook`))
}

const dockerDetail = "in a project, the hooks stand in the file of each agent; the lines for it: retake agents install docker-agent --project --plan"

func (x dockerDriver) status(at agentSite) Status {
	if at.scope == Project {
		return at.newStatus("", Absent, 0, dockerDetail)
	}
	return x.extensionDriver.status(at)
}

func (x dockerDriver) install(at agentSite, o Options) (Change, error) {
	if at.scope == Project {
		return Change{Agent: at.agent, Scope: at.scope, Notes: []string{dockerDetail, x.agentLines(at)}}, nil
	}
	return x.extensionDriver.install(at, o)
}

func (x dockerDriver) remove(at agentSite) (Change, error) {
	if at.scope == Project {
		return Change{Agent: at.agent, Scope: at.scope, Notes: []string{dockerDetail}}, nil
	}
	return x.extensionDriver.remove(at)
}

// agentLines returns what a user adds to an agent in its document: the commands, the tools,
// and the hooks for versions that read no hook directory.
func (x dockerDriver) agentLines(at agentSite) string {
	var b strings.Builder
	b.Write(embeddedFile("docker-agent-commands.yaml"))
	b.WriteString("hooks:\n")
	for line := range bytes.Lines(x.content(at)) {
		if !bytes.HasPrefix(line, []byte("#")) {
			b.WriteString("  ")
			b.Write(line)
		}
	}
	return b.String()
}
