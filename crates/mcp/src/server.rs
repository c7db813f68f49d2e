//! Maps the protocol of both eras to a [`Family`].

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::{ClientInfo, Limits};
use process::standard_streams::ProtocolStreams;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, DiscoverResult,
    ElicitRequest, ElicitRequestParams, ErrorCode, ErrorData, Implementation, InitializeRequestParams,
    InitializeResult, InputRequest as WireInputRequest, InputRequests, InputRequiredResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel, MetaObject,
    PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ResourceContents, ServerCapabilities, ServerConfig,
    SetLevelRequestParams, Tool as WireTool, ToolAnnotations,
};
use rmcp::service::{Peer, RequestContext};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::sync::{OnceCell, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::family::{Call, Caller, Channel, Era, Family, Fault, InputRequest, Reply, ResourceTemplate, Tool};
use crate::guard::{self, Guard};
use crate::lines;
use crate::message::in_passing;
use crate::progress::{Pacer, Update};
use crate::refusal::Verdict;

/// How long what was answered may take to reach a client that is still reading when we end.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(500);

/// News of one call that may wait for the pacer.
const WAITING_UPDATES: usize = 64;

/// Serves a family on the protocol's descriptors until the client is gone or `gone` is raised. Returns after the last
/// answer is written; what still runs is the caller's to end.
///
/// # Errors
///
/// When no thread can be started.
pub async fn serve<F: Family>(
    family: Arc<F>,
    streams: ProtocolStreams,
    gone: CancellationToken,
) -> std::io::Result<()> {
    let lines = lines::read(streams.input, Limits::LINE_BYTES, gone.clone())?;
    let (output, thread) = lines::write(streams.output, gone.clone())?;
    let verdict = Verdict::of(&family, &gone);
    let guard = Guard::new(lines, output.clone(), gone.clone(), Limits::LINE_BYTES, Limits::JSON_DEPTH)
        .heeding(verdict.clone());
    let server = Server { verdict: Some(verdict), ..Server::new(family, gone.clone()) };
    converse(server, guard, gone).await;
    drop(output);
    thread.finish(LAST_WORDS);
    Ok(())
}

/// Holds the conversation behind a guard, until the client is gone or `gone` is raised.
pub(crate) async fn converse<F: Family>(server: Server<F>, guard: Guard, gone: CancellationToken) {
    tokio::select! {
        running = server.serve_with_ct(guard, gone.clone()) => match running {
            Ok(running) => {
                // Ends when the input does, or `gone` is raised; and then within a moment, though the library would
                // wait for seconds for what a client does not read.
                let late = async {
                    gone.cancelled().await;
                    tokio::time::sleep(LAST_WORDS).await;
                };
                tokio::select! {
                    ended = running.waiting() => if let Err(error) = ended {
                        tracing::error!(%error, "the protocol task failed");
                    },
                    () = late => tracing::debug!("the client did not take what was still to be said"),
                }
            }
            Err(error) => tracing::debug!(%error, "the client went away before it opened the connection"),
        },
        () = gone.cancelled() => {}
    }
}

/// A family as the library's handler. One to each connection or session.
pub(crate) struct Server<F> {
    family: Arc<F>,
    gone: CancellationToken,
    tools: Arc<OnceCell<Result<Arc<Vec<WireTool>>, Fault>>>,
    log_level: Mutex<Option<LoggingLevel>>,
    /// Of a server that ends when there turns out to be nothing to serve.
    verdict: Option<Verdict>,
}

impl<F: Family> Server<F> {
    pub(crate) fn new(family: Arc<F>, gone: CancellationToken) -> Self {
        Self { family, gone, tools: Arc::default(), log_level: Mutex::new(None), verdict: None }
    }

    /// Makes the handler of one more session of the same family.
    pub(crate) fn for_session(&self) -> Self {
        let (family, gone, tools) = (Arc::clone(&self.family), self.gone.clone(), Arc::clone(&self.tools));
        Self { family, gone, tools, log_level: Mutex::new(None), verdict: None }
    }

    async fn tools(&self) -> Result<Arc<Vec<WireTool>>, ErrorData> {
        let tools = self
            .tools
            .get_or_init(|| async {
                self.family.tools().await.map(|tools| Arc::new(tools.into_iter().map(wire_tool).collect()))
            })
            .await;
        // Asked for before it was known that there is nothing.
        if let (Err(_), Some(verdict)) = (tools, &self.verdict) {
            verdict.answered();
        }
        tools.clone().map_err(|fault| error_data(fault, Era::Modern))
    }

    fn implementation(&self) -> Implementation {
        let identity = self.family.identity();
        let mut implementation = Implementation::new(identity.name.clone(), identity.version.clone());
        implementation.title.clone_from(&identity.title);
        implementation
    }

    /// `_meta` of a result: modern peers are told with each result who answered.
    fn result_meta(&self, era: Era) -> Option<MetaObject> {
        match era {
            Era::Legacy => None,
            Era::Modern => {
                let mut meta = MetaObject::new();
                meta.insert("io.modelcontextprotocol/serverInfo".into(), guard::value_of(&self.implementation()));
                Some(meta)
            }
        }
    }

    fn channel(
        &self,
        context: &RequestContext<RoleServer>,
        era: Era,
        progress: Option<mpsc::Sender<Update>>,
    ) -> Channel {
        let log_level = match era {
            Era::Modern => context.meta.log_level(),
            Era::Legacy => *self.log_level.lock().unwrap_or_else(PoisonError::into_inner),
        };
        Channel { peer: context.peer.clone(), progress, cancelled: context.ct.clone(), log_level }
    }
}

impl<F: Family> ServerHandler for Server<F> {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        // Clients up to 2025-11-25 set a log level when they connect, and fail when they cannot.
        capabilities.logging = Some(Default::default());
        if self.family.offers_prompts() {
            capabilities.prompts = Some(Default::default());
        }
        let mut info = ServerConfig::new(capabilities);
        info.server_info = self.implementation();
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        result.instructions = self.family.instructions().await;
        Ok(result)
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut info = self.get_info();
        info.instructions = self.family.instructions().await;
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), info))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        refuse_cursor(request)?;
        let tools = self.tools().await?;
        let mut result = ListToolsResult::with_all_items(tools.as_ref().clone());
        result.meta = self.result_meta(era(&context));
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let era = era(&context);
        self.tools().await?;
        let (updates, news) = mpsc::channel(WAITING_UPDATES);
        let token = context.meta.get_progress_token();
        let channel = self.channel(&context, era, token.is_some().then_some(updates));
        let tool = request.name.clone().into_owned();
        let call = Call {
            tool: tool.clone(),
            arguments: request.arguments.unwrap_or_default(),
            input_responses: request.input_responses,
            request_state: request.request_state,
            caller: caller(&context, era),
            channel,
        };
        let family = Arc::clone(&self.family);
        // In a task of its own, so that a panic ends the call and not its answer.
        let mut task = tokio::spawn(async move { family.call(call).await });
        let gone = async {
            tokio::select! {
                () = self.gone.cancelled() => {}
                () = context.ct.cancelled() => {}
            }
        };
        let outcome = tokio::select! {
            outcome = keep_posted(&context.peer, token, news, &mut task) => outcome,
            () = gone => {
                // Nobody reads the answer. The task sees the same token and ends what it started.
                return Err(ErrorData::internal_error("cancelled", None));
            }
        };
        let reply = match outcome {
            Ok(reply) => reply.map_err(|fault| error_data(fault, era))?,
            Err(panic) => {
                tracing::error!(tool, %panic, "the handling of a call panicked");
                self.family.crashed(&tool)
            }
        };
        Ok(match reply {
            Reply::Complete { value, is_error } => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
                result.structured_content = Some(value);
                result.is_error = Some(is_error);
                result.meta = self.result_meta(era);
                CallToolResponse::Complete(result)
            }
            Reply::Plain { texts, structured, is_error } => {
                let mut result = CallToolResult::success(texts.into_iter().map(ContentBlock::text).collect());
                result.structured_content = structured;
                result.is_error = Some(is_error);
                result.meta = self.result_meta(era);
                CallToolResponse::Complete(result)
            }
            Reply::InputRequired { requests, state } => {
                let mut result = InputRequiredResult::from_request_state(state);
                result.input_requests = Some(wire_requests(requests)?);
                result.meta = self.result_meta(era);
                CallToolResponse::InputRequired(result)
            }
        })
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        refuse_cursor(request)?;
        self.tools().await?;
        let mut result = ListResourcesResult::default();
        result.meta = self.result_meta(era(&context));
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        refuse_cursor(request)?;
        self.tools().await?;
        let templates = self.family.resource_templates().into_iter().map(wire_template).collect();
        let mut result = ListResourceTemplatesResult::with_all_items(templates);
        result.meta = self.result_meta(era(&context));
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let era = era(&context);
        let uri = request.uri.clone();
        let resource = self.family.read_resource(request.uri).await.map_err(|fault| {
            let missing = matches!(fault, Fault::NotFound(_));
            let mut error = error_data(fault, era);
            if missing {
                // The protocol has errors name the resource that is not there.
                error.data = Some(serde_json::json!({ "uri": uri }));
            }
            error
        })?;
        let contents = ResourceContents::text(resource.text, resource.uri).with_mime_type(resource.mime_type);
        let mut result = ReadResourceResult::new(vec![contents]);
        result.meta = self.result_meta(era);
        Ok(result.into())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        *self.log_level.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.level);
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if guard::is_known_method(&request.method) {
            return Err(ErrorData::invalid_params(
                format!("the parameters of `{}` do not have the form that the protocol gives them", request.method),
                None,
            ));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{}`", request.method), None))
    }
}

/// Waits for a call and tells the client of its progress meanwhile. Nothing is sent after the call has ended but the
/// last word, which comes before the answer.
async fn keep_posted(
    peer: &Peer<RoleServer>,
    token: Option<ProgressToken>,
    mut news: mpsc::Receiver<Update>,
    task: &mut tokio::task::JoinHandle<Result<Reply, Fault>>,
) -> Result<Result<Reply, Fault>, tokio::task::JoinError> {
    let Some(token) = token else { return task.await };
    let started = Instant::now();
    let mut pacer = Pacer::new();
    loop {
        tokio::select! {
            biased;
            Some(update) = news.recv() => pacer.push(update),
            () = tokio::time::sleep_until(pacer.due(started)) => {
                tell(peer, &token, pacer.take(Instant::now())).await;
            }
            outcome = &mut *task => {
                while let Ok(update) = news.try_recv() {
                    pacer.push(update);
                }
                if let Some(update) = pacer.flush(Instant::now()) {
                    tell(peer, &token, update).await;
                }
                return outcome;
            }
        }
    }
}

async fn tell(peer: &Peer<RoleServer>, token: &ProgressToken, update: Update) {
    let mut parameters = ProgressNotificationParam::new(token.clone(), update.done.unwrap_or_default());
    parameters.total = update.total;
    parameters.message = update.message.map(|message| in_passing(&message).into_owned());
    if let Err(error) = peer.notify_progress(parameters).await {
        tracing::debug!(%error, "progress could not be sent");
    }
}

fn era(context: &RequestContext<RoleServer>) -> Era {
    match context.protocol_version() {
        Some(version) if version.as_str() >= ProtocolVersion::V_2026_07_28.as_str() => Era::Modern,
        Some(_) | None => Era::Legacy,
    }
}

fn caller(context: &RequestContext<RoleServer>, era: Era) -> Caller {
    let client = context.client_info();
    let elicitation = context
        .client_capabilities()
        .and_then(|capabilities| capabilities.elicitation)
        // An empty capability means forms; one that names only `url` does not.
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none());
    let roots = context.client_capabilities().is_some_and(|capabilities| capabilities.roots.is_some());
    Caller {
        client: ClientInfo {
            name: client.as_ref().map(|client| client.name.clone()).unwrap_or_default(),
            version: client.map(|client| client.version).unwrap_or_default(),
            protocol: context.protocol_version().map(|version| version.as_str().to_owned()).unwrap_or_default(),
        },
        era,
        elicitation,
        roots,
    }
}

/// All lists fit on one page, so no cursor was ever given out.
fn refuse_cursor(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        Some(_) => Err(ErrorData::invalid_params("unknown `cursor`: this list has one page", None)),
        None => Ok(()),
    }
}

fn error_data(fault: Fault, era: Era) -> ErrorData {
    match fault {
        Fault::InvalidParams { message, data } => ErrorData::invalid_params(message, data),
        Fault::NotFound(message) => match era {
            Era::Legacy => ErrorData::resource_not_found(message, None),
            Era::Modern => ErrorData::invalid_params(message, None),
        },
        Fault::Internal(message) => ErrorData::internal_error(message, None),
    }
}

fn wire_tool(tool: Tool) -> WireTool {
    let mut annotations = ToolAnnotations::new();
    annotations.title.clone_from(&tool.title);
    annotations.read_only_hint = tool.annotations.read_only;
    annotations.destructive_hint = tool.annotations.destructive;
    annotations.idempotent_hint = tool.annotations.idempotent;
    annotations.open_world_hint = tool.annotations.open_world;
    let mut wire = WireTool::new_with_raw(tool.name, tool.description.map(Into::into), Arc::new(tool.input_schema));
    wire.title = tool.title;
    wire.output_schema = tool.output_schema.map(Arc::new);
    wire.annotations = Some(annotations);
    wire
}

fn wire_template(template: ResourceTemplate) -> rmcp::model::ResourceTemplate {
    let mut wire = rmcp::model::ResourceTemplate::new(template.uri_template, template.name);
    wire.description = Some(template.description);
    wire.mime_type = Some(template.mime_type);
    wire
}

fn wire_requests(requests: Vec<InputRequest>) -> Result<InputRequests, ErrorData> {
    requests
        .into_iter()
        .map(|request| {
            let params = serde_json::json!({
                "mode": "form", "message": request.ask.message, "requestedSchema": request.ask.schema,
            });
            let params: ElicitRequestParams = serde_json::from_value::<ElicitRequestParams>(params)
                .map_err(|error| ErrorData::internal_error(format!("a form has no protocol form: {error}"), None))?;
            Ok((request.key, WireInputRequest::Elicitation(ElicitRequest::new(params))))
        })
        .collect()
}
