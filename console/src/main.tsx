import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { Trouble } from "./api/ask.ts";
import { router } from "./router.tsx";
import { SignIn } from "./screens/signin/SignIn.tsx";
import { applyTheme } from "./shell/theme.ts";
import "./style/tokens.css";
import "./style/base.css";

applyTheme();

function App() {
  const [stranger, setStranger] = useState(false);
  const [cache] = useState(
    () =>
      new QueryClient({
        queryCache: new QueryCache({
          onError: (e) => {
            if (e instanceof Trouble && e.status === 401) setStranger(true);
          },
        }),
        defaultOptions: {
          queries: { staleTime: 5_000, refetchOnWindowFocus: false, retry: (n, e) => n < 2 && e instanceof Trouble && e.problem.retryable },
        },
      }),
  );
  if (stranger) return <SignIn />;
  return (
    <QueryClientProvider client={cache}>
      <RouterProvider router={router} context={{ cache }} />
    </QueryClientProvider>
  );
}

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
