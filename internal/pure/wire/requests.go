package wire

import (
	"time"

	"github.com/retake-dev/retake"
)

type InitBody struct {
	Dir     string            `json:"dir,omitempty" doc:"The absolute path of the directory, on the machine that answers. A server creates one by name if it is empty."`
	DirRaw  []byte            `json:"dir_raw,omitempty" doc:"The exact bytes of dir, if they are not valid UTF-8."`
	Name    string            `json:"name,omitempty" doc:"The workspace's name. Empty means the directory's name."`
	NameRaw []byte            `json:"name_raw,omitempty" doc:"The exact bytes of name, if they are not valid UTF-8."`
	Accept  []string          `json:"accept,omitempty" doc:"The classes of dangers that you accept: home, system, giant or nested."`
	Mark    retake.MarkChoice `json:"mark,omitempty" doc:"If the directory belongs to a known workspace: copy or moved. If a workspace at this path was deleted or replaced: continue (its history) or new. Empty means that Retake refuses and explains the choice."`
	Env     []string          `json:"env,omitempty" doc:"Environment variables that checks may use, as NAME=VALUE."`

	Automatic bool `json:"automatic,omitempty" doc:"If true, nobody asked for it: smaller directories count as giant, and after a second the first checkpoint continues in the background."`
}

type SaveBody struct {
	ID        retake.CheckpointID `json:"id,omitempty" doc:"Your own ID for the new checkpoint, cp_ and a UUID, so that you can retry safely. Empty means that Retake creates one."`
	Intent    string              `json:"intent,omitempty" doc:"The checkpoint's message."`
	Trigger   retake.Trigger      `json:"trigger,omitempty" doc:"Why the checkpoint is taken. Empty means manual."`
	Pin       string              `json:"pin,omitempty" doc:"Pin the checkpoint under this name."`
	Budget    time.Duration       `json:"budget,omitempty" doc:"A time limit in nanoseconds. If the save takes longer, a partial checkpoint is saved first."`
	IfChanged bool                `json:"if_changed,omitempty" doc:"If true, no checkpoint is added when no file changed."`
}

type PlanBody struct {
	Course   retake.Course      `json:"course" doc:"What to do: restore, undo, redo, adopt, finish or unwind (the last two for an interrupted restore)."`
	Ref      string             `json:"ref,omitempty" doc:"The checkpoint to restore. For undo, the checkpoint to undo, or a range such as 3..5. Empty means the newest one."`
	Paths    []string           `json:"paths,omitempty" nullable:"false" doc:"Limit the operation to these paths, relative to the workspace's root. Empty means everything. Absolute paths are files outside the workspace that the checkpoint saved."`
	PathsRaw [][]byte           `json:"paths_raw,omitempty" nullable:"false" doc:"The exact bytes of all paths, if one of them is not valid UTF-8."`
	To       string             `json:"to,omitempty" doc:"The directory to write files to that the checkpoint saved from outside the workspace. Empty means where they were."`
	Git      bool               `json:"git,omitempty" doc:"If true, existing git repositories are replaced, too."`
	Fork     retake.WorkspaceID `json:"fork,omitempty" doc:"With adopt: the ID of the fork."`
	Edits    bool               `json:"edits,omitempty" doc:"With undo: discard the unsaved edits instead of the last recorded change."`
	Session  string             `json:"session,omitempty" doc:"With undo: undo all turns of this session. Name it by the start of its ID, by its agent, or as last."`
	Hunks    []retake.Hunk      `json:"hunks,omitempty" nullable:"false" doc:"With undo, a ref and one path: undo only these hunks of the diff between from and ref."`
	From     string             `json:"from,omitempty" doc:"The checkpoint that the hunks were compared with, as a ref."`
	Spread   bool               `json:"spread,omitempty" doc:"With undo and redo: also in the other workspaces on this machine that the same turn worked in. The plan lists them as others."`
	Asker    int                `json:"asker,omitempty" doc:"Your process ID on this machine. Retake does not warn about the agent turn that it runs in."`
}

// RestoreBody repeats the fields of PlanBody, because huma ignores unexported embedded structs.
type RestoreBody struct {
	Course   retake.Course       `json:"course" doc:"The value that you sent for the plan."`
	Ref      string              `json:"ref,omitempty" doc:"The value that you sent for the plan."`
	Paths    []string            `json:"paths,omitempty" nullable:"false" doc:"The value that you sent for the plan."`
	PathsRaw [][]byte            `json:"paths_raw,omitempty" nullable:"false" doc:"The exact bytes of all paths, if one of them is not valid UTF-8."`
	To       string              `json:"to,omitempty" doc:"The value that you sent for the plan."`
	Git      bool                `json:"git,omitempty" doc:"The value that you sent for the plan."`
	Fork     retake.WorkspaceID  `json:"fork,omitempty" doc:"The value that you sent for the plan."`
	Edits    bool                `json:"edits,omitempty" doc:"The value that you sent for the plan."`
	Session  string              `json:"session,omitempty" doc:"The value that you sent for the plan."`
	Hunks    []retake.Hunk       `json:"hunks,omitempty" nullable:"false" doc:"The value that you sent for the plan."`
	From     string              `json:"from,omitempty" doc:"The value that you sent for the plan."`
	Spread   bool                `json:"spread,omitempty" doc:"The value that you sent for the plan."`
	Asker    int                 `json:"asker,omitempty" doc:"The value that you sent for the plan."`
	Digest   string              `json:"digest" doc:"The plan's digest, or its first eight characters with or without a dash."`
	Accept   []string            `json:"accept,omitempty" nullable:"false" doc:"The classes of warnings that you accept."`
	ID       retake.CheckpointID `json:"id,omitempty" doc:"Your own ID for the new checkpoint, cp_ and a UUID, so that you can retry safely. Empty means that Retake creates one."`
}

// ApplyBody is RestoreBody without the digest, which only a client with a plan has.
type ApplyBody struct {
	Course   retake.Course       `json:"course,omitempty" doc:"What to do: restore, undo, redo, adopt, finish or unwind (the last two for an interrupted restore). Empty means restore."`
	Ref      string              `json:"ref,omitempty" doc:"The checkpoint to restore. For undo, the checkpoint to undo, or a range such as 3..5. Empty means the newest one."`
	Paths    []string            `json:"paths,omitempty" nullable:"false" doc:"Limit the operation to these paths, relative to the workspace's root. Empty means everything."`
	PathsRaw [][]byte            `json:"paths_raw,omitempty" nullable:"false" doc:"The exact bytes of all paths, if one of them is not valid UTF-8."`
	To       string              `json:"to,omitempty" doc:"The directory to write files to that the checkpoint saved from outside the workspace. Empty means where they were."`
	Git      bool                `json:"git,omitempty" doc:"If true, existing git repositories are replaced, too."`
	Fork     retake.WorkspaceID  `json:"fork,omitempty" doc:"With adopt: the ID of the fork."`
	Edits    bool                `json:"edits,omitempty" doc:"With undo: discard the unsaved edits instead of the last recorded change."`
	Session  string              `json:"session,omitempty" doc:"With undo: undo all turns of this session. Name it by the start of its ID, by its agent, or as last."`
	Accept   []string            `json:"accept,omitempty" nullable:"false" doc:"The classes of warnings that you accept in advance."`
	ID       retake.CheckpointID `json:"id,omitempty" doc:"Your own ID for the new checkpoint, cp_ and a UUID, so that you can retry safely. Empty means that Retake creates one."`
}

type ForkBody struct {
	Ref       string `json:"ref,omitempty" doc:"The checkpoint to fork, as a ref."`
	Dir       string `json:"dir,omitempty" doc:"The absolute path of the new directory, on the machine that answers. It must not exist or must be empty. A server creates one by name if you leave it out."`
	DirRaw    []byte `json:"dir_raw,omitempty" doc:"The exact bytes of dir, if they are not valid UTF-8."`
	Name      string `json:"name,omitempty" doc:"The workspace's name. Empty means the directory's name."`
	NameRaw   []byte `json:"name_raw,omitempty" doc:"The exact bytes of name, if they are not valid UTF-8."`
	Throwaway bool   `json:"throwaway,omitempty" doc:"If true, the fork is temporary and protects nothing. You remove it yourself."`

	Accept []string `json:"accept,omitempty" nullable:"false" doc:"The warnings that you accept: setuid, for files that run with the rights of their owner."`
}

type PinBody struct {
	Ref string `json:"ref" doc:"The checkpoint to pin, as a ref."`
}

type ForgetBody struct {
	Refs []string `json:"refs" nullable:"false" doc:"The checkpoints to delete, as refs. The newest checkpoint and pinned ones can't be deleted."`
}

type ScrubBody struct {
	Share  float64 `json:"share,omitempty" doc:"The share of all file content to read, from 0 (structure only) to 1."`
	Repair bool    `json:"repair,omitempty" doc:"Read everything, look for damaged content in the live workspaces, and store it again."`
}

type PurgeBody struct {
	Paths    []string `json:"paths,omitempty" nullable:"false" doc:"Paths to remove, relative to the workspace's root, with everything below them."`
	Contents [][]byte `json:"contents,omitempty" nullable:"false" doc:"Bytes to remove, each in base64. Every stored file that contains one of them is removed. Don't send it together with paths."`
}

type BackupBody struct {
	URL  string `json:"url" doc:"The URL of the git remote: git@host:path or ssh://git@host/path."`
	Host string `json:"host,omitempty" doc:"The host key or its fingerprint. Without it nothing is set, and the response contains the key that the host presented."`
}

type RemoteBody struct {
	Name       string               `json:"name,omitempty" doc:"A name for the remote: small letters, digits and dashes. Empty means the name of its bucket, host or directory."`
	URL        string               `json:"url" doc:"Where it is: /path, s3://bucket/prefix, gs://bucket/prefix, azure://container/prefix, sftp://user@host/path or webdav://host/path."`
	Workspaces []retake.WorkspaceID `json:"workspaces,omitempty" nullable:"false" doc:"The IDs of the workspaces to upload. Empty means all, also later ones."`
	Access     AccessBody           `json:"access,omitzero" doc:"What the remote asks for. It is stored for the daemon alone and never returned."`
	Rate       int64                `json:"rate,omitempty" doc:"The most bytes to upload in a second. 0 means no limit."`
	NewCopy    bool                 `json:"new_copy,omitempty" doc:"If true, a new copy begins there, beside one that this store uploaded before."`
}

type AttachBody struct {
	URL       string     `json:"url" doc:"Where the copy is, as for a remote."`
	Access    AccessBody `json:"access,omitzero" doc:"What the remote asks for. It is stored for the daemon alone and never returned."`
	Key       string     `json:"recovery_key" doc:"The recovery key that opens the copy."`
	Workspace string     `json:"workspace_name,omitempty" doc:"The name or the ID of the workspace. Empty means the only one."`
	Dir       string     `json:"dir,omitempty" doc:"A directory for its files, empty or missing. Empty means where they were."`
	Browse    bool       `json:"browse,omitempty" doc:"If true, no files are written: only the timeline arrives."`
}

type AccessBody struct {
	Endpoint   string `json:"endpoint,omitempty" doc:"The URL of an S3 service. Empty means Amazon's."`
	Region     string `json:"region,omitempty" doc:"The region of the bucket."`
	User       string `json:"user,omitempty" doc:"The access key, the account or the user."`
	Secret     string `json:"secret,omitempty" doc:"The secret key or the password."`
	PrivateKey string `json:"private_key,omitempty" doc:"A private SSH key in PEM, without a passphrase."`
	KnownHosts string `json:"known_hosts,omitempty" doc:"Lines of known_hosts with the SSH host keys to accept."`
}

type RemoteList struct {
	Remotes []retake.Remote `json:"remotes" nullable:"false" doc:"The remotes, by name."`
}

type SyncBody struct {
	Name      string             `json:"name,omitempty" doc:"The name of the remote. Empty means all."`
	Workspace retake.WorkspaceID `json:"workspace,omitempty" doc:"The ID of a workspace: only remotes that get it. Empty means all remotes."`
	Number    int64              `json:"number,omitempty" doc:"The number of a checkpoint of that workspace. It is enough that one remote has it."`
}

type RemoteCheckBody struct {
	Name  string  `json:"name" doc:"The name of the remote."`
	Share float64 `json:"share,omitempty" doc:"The share of all file content to read, from 0 (structure only) to 1."`
}

type ResumeBody struct {
	Ref    string `json:"ref,omitempty" doc:"The checkpoint to continue from, as a ref. Empty means the newest one of an agent."`
	Dir    string `json:"dir,omitempty" doc:"The directory to continue in. Empty means the directory that the agent worked in."`
	DirRaw []byte `json:"dir_raw,omitempty" doc:"The exact bytes of dir, if they are not valid UTF-8."`
	Look   bool   `json:"look,omitempty" doc:"If true, nothing is written: a preview."`
}

type TaskList struct {
	Tasks []retake.Task `json:"tasks" nullable:"false" doc:"The tasks, in order."`
}

type AttestBody struct {
	Ref     string         `json:"ref,omitempty" doc:"The checkpoint that was checked, as a ref. Empty means the newest one."`
	Name    string         `json:"name,omitempty" doc:"The check's name. Empty means that it is derived from the command."`
	Command string         `json:"command,omitempty" doc:"The command that ran."`
	Where   retake.Where   `json:"where,omitempty" doc:"Where it ran: live (the workspace), fork (a temporary fork at the workspace's path) or elsewhere. Empty means live."`
	By      string         `json:"by,omitempty" doc:"The agent that reports the result, with claim. A server adds the API key's name."`
	Claim   bool           `json:"claim,omitempty" doc:"If true, an agent reports the result and Retake did not see the check run. A server sets it for every key that is not an operator key."`
	Bisect  bool           `json:"bisect,omitempty" doc:"If true, the command ran during a bisect and does not decide which checkpoint is good."`
	Verdict retake.Verdict `json:"verdict,omitempty" doc:"The result: passed, failed or could-not-run. Empty means that exit decides."`
	Why     string         `json:"why,omitempty" doc:"Why the command could not run."`
	Exit    int            `json:"exit,omitempty" doc:"The exit code."`
	Started time.Time      `json:"started,omitzero" doc:"The time at which the command started."`
	Took    time.Duration  `json:"took,omitempty" doc:"How long the command ran, in nanoseconds."`
	Output  string         `json:"output,omitempty" doc:"The end of the output."`
}

type KeyBody struct {
	Kind       retake.KeyKind `json:"kind" doc:"The role: agent, reader, operator, admin or maintainer."`
	Name       string         `json:"name,omitempty" doc:"A name for people, such as the key's owner or purpose."`
	Workspaces []string       `json:"workspaces,omitempty" nullable:"false" doc:"The IDs of the workspaces that the key may access. Empty means all of them."`
	Expires    *time.Time     `json:"expires,omitempty" doc:"The time at which the key expires. Absent means never."`
}

type NamespaceBody struct {
	ID      retake.NamespaceID `json:"id" doc:"The namespace's name: lowercase letters, digits and dashes."`
	Limits  *LimitsBody        `json:"limits,omitempty" doc:"Its limits. Those that are absent have the server's defaults."`
	Webhook string             `json:"webhook,omitempty" doc:"The URL of a first webhook, which receives all events. Empty means none."`
}

type NamespaceKeyBody struct {
	Kind    retake.KeyKind `json:"kind" doc:"The role: agent, reader, operator, admin or maintainer."`
	Name    string         `json:"name,omitempty" doc:"A name for people, such as the key's owner or purpose."`
	Expires *time.Time     `json:"expires,omitempty" doc:"The time at which the key expires. Absent means never."`
}

type ScheduleBody struct {
	Work      retake.ScheduleWork `json:"work" doc:"What to do: save (a checkpoint, if files changed), retain (delete what retention no longer keeps) or drill (read stored data back)."`
	Workspace retake.WorkspaceID  `json:"workspace,omitempty" doc:"The ID of the workspace to save. Empty means the namespace's default workspace."`
	Cron      string              `json:"cron" doc:"When to run: five cron fields, in UTC."`
	Jitter    time.Duration       `json:"jitter,omitempty" doc:"Start each run up to this much later, in nanoseconds."`
}

type DeletionBody struct {
	Workspace retake.WorkspaceID `json:"workspace" doc:"The workspace's ID."`
	Refs      []string           `json:"refs" nullable:"false" doc:"The checkpoints to delete, as refs."`
	Why       string             `json:"why,omitempty" doc:"The reason, for people and for the audit log."`
}

type HoldBody struct {
	Ref  string `json:"ref" doc:"The checkpoint to hold, as a ref."`
	Name string `json:"name" doc:"The hold's name."`
}

type HookBody struct {
	URL    string             `json:"url" doc:"The URL that receives the events. It must use https."`
	Types  []retake.EventType `json:"types,omitempty" nullable:"false" doc:"The event types to send. Empty means all, without the snapshot.* aliases."`
	Events []retake.EventType `json:"events,omitempty" nullable:"false" doc:"Another name for types. Send one of the two."`
	Scheme retake.Scheme      `json:"scheme,omitempty" doc:"How messages are signed: v1 (a shared secret) or v1a (a key pair). Empty means v1."`

	Workspace retake.WorkspaceID `json:"workspace_id,omitempty" doc:"Send only events of this workspace. Empty means all."`
	Namespace retake.NamespaceID `json:"namespace,omitempty" doc:"The namespace of your API key. Another one is refused."`
}

type ChangeHookBody struct {
	URL      string             `json:"url" doc:"The URL that receives the events. It must use https."`
	Types    []retake.EventType `json:"types,omitempty" nullable:"false" doc:"The event types to send. Empty means all, without the snapshot.* aliases."`
	Events   []retake.EventType `json:"events,omitempty" nullable:"false" doc:"Another name for types. Send one of the two."`
	Disabled *time.Time         `json:"disabled,omitempty" doc:"Set any time to disable the webhook. Leave it out to enable the webhook."`
}

type SnapshotBody struct {
	Label     string              `json:"label,omitempty" doc:"The checkpoint's message."`
	Workspace retake.WorkspaceID  `json:"workspace_id,omitempty" doc:"The workspace's ID. Empty means the namespace's default workspace."`
	ID        retake.CheckpointID `json:"snapshot_id,omitempty" doc:"Your own ID for the new checkpoint, cp_ and a UUID, so that you can retry safely. Empty means that Retake creates one."`
}

type RestoreSnapshotBody struct {
	Paths  []string            `json:"paths,omitempty" nullable:"false" doc:"Limit the operation to these paths, relative to the workspace's root. Empty means everything."`
	Accept []string            `json:"accept,omitempty" nullable:"false" doc:"The classes of warnings that you accept in advance. Needed only for what the safety snapshot does not contain, such as uncaptured."`
	ID     retake.CheckpointID `json:"id,omitempty" doc:"Your own ID for the new checkpoint, cp_ and a UUID, so that you can retry safely. Empty means that Retake creates one."`
}

// ApproveBody is the request to let a stopped call pass.
type ApproveBody struct {
	Asker int `json:"asker,omitempty" doc:"Your process ID on this machine. A process that an agent started can't approve."`
}
