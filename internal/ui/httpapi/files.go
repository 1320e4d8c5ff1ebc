package httpapi

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/retake-dev/retake"
)

type fileTarget struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Path      string             `query:"path" required:"true" doc:"The path in the workspace."`
}

type fileWrite struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Path      string             `query:"path" required:"true" doc:"The path in the workspace."`
	Mode      string             `query:"mode" doc:"The permission bits as an octal number, such as 755. Absent means that a file keeps its bits, and a new one has 644."`
}

// registerFiles registers the routes that change single files.
func (a *api) registerFiles() {
	o := newOperation(http.MethodPut, "/v1/workspaces/{ws}/file", "write-file", "Write a file")
	o.RequestBody = binaryBody(bytesType, "The content of the file.")
	handleUpload(a, o, func(ctx context.Context, office retake.Office, in *fileWrite, body io.Reader) (retake.FileWritten, error) {
		req := retake.FileRequest{Workspace: in.Workspace, Path: in.Path}
		if in.Mode != "" {
			mode, err := strconv.ParseUint(in.Mode, 8, 32)
			if err != nil || mode == 0 {
				return retake.FileWritten{}, requestProblem(http.StatusUnprocessableEntity, "query.mode: an octal number such as 644 is expected")
			}
			req.Mode = uint32(mode)
		}
		return office.WriteFile(ctx, req, body)
	})
	handleOfficeEmpty(a, newOperation(http.MethodDelete, "/v1/workspaces/{ws}/file", "remove-file", "Remove a file"), func(ctx context.Context, office retake.Office, in *fileTarget) error {
		return office.RemoveFile(ctx, retake.FileRequest{Workspace: in.Workspace, Path: in.Path})
	})
}
