//! The connection as the window shows and changes it. The window's login lies where the terminal's does, so that both
//! mean the same one.

use std::time::Duration;

use api::wire::settings::{ConnectionLogin, ConnectionSource, ConnectionState, ConnectionStatus, KeyStore};
use api::{Answer, ApiError, ApiErrorCode};
use secrets::{Error, KeyPlace, LoginStore, Secret, SecretStore, ServerUrl, Source, Sources};

use super::error;
use crate::connection::{self, Logins};
use crate::failure::with_causes;
use crate::{profile, server_check};

/// How long the keyring may take at login: its prompt waits for a person.
const PATIENCE: Duration = Duration::from_secs(60);

fn logins() -> Answer<Logins> {
    let home = profile::workflow_home().map_err(|failure| error(failure, ApiErrorCode::Internal))?;
    Ok(Logins::new(None, None, &home))
}

pub(super) fn status(profile: &str) -> Answer<ConnectionStatus> {
    let (desktop, saved, mut notes) = logins()?.read();
    let sources =
        Sources { environment: connection::given_by_environment(), dot_env: secrets::Given::default(), desktop, saved };
    let resolution = secrets::resolve(&sources);
    notes.extend(resolution.notes);
    let Some(found) = resolution.resolved else {
        return Ok(ConnectionStatus {
            url: None,
            source: ConnectionSource::None,
            state: ConnectionState::SignedOut,
            message: message(notes),
        });
    };
    let (source, state) = match &found.key {
        KeyPlace::Here(_) | KeyPlace::None => {
            let source = match found.source {
                Source::Environment | Source::DotEnv => ConnectionSource::Environment,
                Source::Desktop | Source::Saved => ConnectionSource::File,
            };
            (source, ConnectionState::Works)
        }
        KeyPlace::Keyring => {
            let state = match connection::keyring(profile).get(&found.url) {
                Ok(Some(_)) => ConnectionState::Works,
                Ok(None) => {
                    notes.push(format!("the keyring has no key for {}: log in again", found.url));
                    ConnectionState::SignedOut
                }
                Err(error) => {
                    notes.push(with_causes(&error));
                    state_of(&error)
                }
            };
            (ConnectionSource::Keyring, state)
        }
    };
    Ok(ConnectionStatus { url: Some(found.url.as_str().to_owned()), source, state, message: message(notes) })
}

fn message(notes: Vec<String>) -> Option<String> {
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn state_of(error: &Error) -> ConnectionState {
    match error {
        Error::NoService { .. } | Error::NoKeyring { .. } => ConnectionState::NoService,
        Error::Locked { .. } | Error::Denied { .. } => ConnectionState::Locked,
        Error::Keyring { .. }
        | Error::Unreliable
        | Error::Value { .. }
        | Error::Read { .. }
        | Error::Write { .. }
        | Error::Content { .. }
        | Error::NoRandom => ConnectionState::Failed,
    }
}

/// What the border says of a failure of keys.
fn refused(failure: &Error) -> ApiError {
    let code = match failure {
        Error::Value { .. } => ApiErrorCode::InvalidInput,
        Error::Read { source, .. } | Error::Write { source, .. } => {
            return ApiError { message: with_causes(failure), ..ApiError::io("", source) };
        }
        Error::Content { .. } => ApiErrorCode::Conflict,
        Error::NoService { .. }
        | Error::NoKeyring { .. }
        | Error::Locked { .. }
        | Error::Denied { .. }
        | Error::Keyring { .. }
        | Error::Unreliable
        | Error::NoRandom => ApiErrorCode::SecretService,
    };
    let refused = ApiError::new(code, with_causes(failure));
    match state_of(failure) {
        ConnectionState::Locked => refused.hinted("unlock the keyring and try again, or keep the key in a file"),
        ConnectionState::NoService => refused.hinted("keep the key in a file that only you can read"),
        ConnectionState::Works | ConnectionState::SignedOut | ConnectionState::Failed => refused,
    }
}

pub(super) fn login(profile: &str, login: &ConnectionLogin) -> Answer<ConnectionStatus> {
    let server = ServerUrl::parse(login.url.trim()).map_err(|error| ApiError::invalid(error.to_string()))?;
    let key = Secret::from(login.key.trim());
    let keyring = connection::keyring(profile).with_patience(PATIENCE);
    let store = match login.store {
        KeyStore::Keyring => LoginStore::Keyring,
        KeyStore::File => LoginStore::File,
    };
    if store == LoginStore::Keyring {
        keyring.probe().map_err(|error| refused(&error))?;
    }
    secrets::login(&logins()?.auth, &server, &key, store, &keyring).map_err(|error| refused(&error))?;
    let mut status = status(profile)?;
    // The login is kept all the same; that it does not work is said.
    if let Err(why) = server_check::models(&server, &key) {
        status.message = Some(why);
        if status.state == ConnectionState::Works {
            status.state = ConnectionState::Failed;
        }
    }
    Ok(status)
}

pub(super) fn logout(profile: &str) -> Answer<ConnectionStatus> {
    let keyring = connection::keyring(profile).with_patience(PATIENCE);
    secrets::logout(&logins()?.auth, &keyring).map_err(|error| refused(&error))?;
    status(profile)
}
