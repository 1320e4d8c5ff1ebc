#!/bin/sh
# Written by: retake agents install cline
# Taken away by: retake agents remove cline
RETAKE=retake
if command -v "$RETAKE" >/dev/null 2>&1; then
	exec "$RETAKE" hook cline
fi
# Without the program nothing is recorded, and nothing is held up.
cat >/dev/null
echo '{"cancel":false}'
